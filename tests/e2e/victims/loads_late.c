// SPDX-License-Identifier: Apache-2.0
// loads_late LIBRARY END: loads the library, has it allocate, and ends at once as END says.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *works(void *library) {
  void (*work)(void) = (void (*)(void))dlsym(library, "work");
  if (!work) exit(4);
  work();
  return library;
}

static void *load(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) exit(3);
  return works(library);
}

static void *ends(void *unused) {
  (void)unused;
  exit(0);
}

static int end(const char *how) {
  char *program[] = {"true", NULL};
  pthread_t thread;
  if (!strcmp(how, "_exit")) _exit(0);
  if (!strcmp(how, "quick_exit")) quick_exit(0);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "exec")) execv("/bin/true", program);
  if (!strcmp(how, "thread") && !pthread_create(&thread, NULL, ends, NULL)) pthread_join(thread, NULL);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const char *how = arguments[2];
  if (!strcmp(how, "fork")) {
    int status = 0;
    if (!fork()) {
      load(arguments[1]);
      _exit(0);
    }
    return wait(&status) < 0 || status;
  }
  void *library = load(arguments[1]);
  if (!strcmp(how, "dlclose")) return dlclose(library);
  return end(how);
}
