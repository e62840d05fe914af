// SPDX-License-Identifier: Apache-2.0
#include "cupti/find_cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/session.h"

enum { kNewestMajor = 14, kOldestMajor = 12, kPathBytes = 4096 };

static void *(*open_library)(const char *, int);
static void *(*find_symbol)(void *, const char *);
static void *(*find_version)(void *, const char *, const char *);
static int (*close_library)(void *);
static int (*find_module)(const void *, Dl_info *, void **, int);
static int (*each_module)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

static void *open_loaded(const char *name) { return open_library(name, RTLD_NOW | RTLD_NOLOAD); }

// Writes `folder` and then "NAME.MAJOR" to `at`; null: that is longer than kPathBytes.
static const char *library_path(char *at, const char *folder, size_t folder_bytes, const char *name, int major) {
  size_t bytes = strlen(name);
  if (folder_bytes + bytes + 4 > kPathBytes) return NULL;
  memcpy(at, folder, folder_bytes);
  memcpy(at + folder_bytes, name, bytes);
  char *end = at + folder_bytes + bytes;
  *end++ = '.';
  *end++ = (char)('0' + major / 10);
  *end++ = (char)('0' + major % 10);
  *end = 0;
  return at;
}

static void *open_in(const char *folder, size_t folder_bytes, const char *name, int major) {
  char path[kPathBytes];
  const char *whole = library_path(path, folder, folder_bytes, name, major);
  return whole ? open_library(whole, RTLD_NOW | RTLD_LOCAL) : NULL;
}

// Major version of the newest loaded library of that name, not above `newest`, and its handle; 0: none is loaded.
static int loaded_major(const char *name, int newest, void **handle) {
  char path[kPathBytes];
  for (int major = newest; major >= kOldestMajor; major--)
    if ((*handle = open_loaded(library_path(path, "", 0, name, major)))) return major;
  return 0;
}

// The newest major version of CUDA that the driver supports; 0: unknown.
static int driver_major(void) {
  union {
    void *address;
    int (*call)(int *);
  } get_version = {NULL};
  int version = 0;
  void *driver = open_loaded("libcuda.so.1");
  if (driver) get_version.address = find_symbol(driver, "cuDriverGetVersion");
  return get_version.address && get_version.call(&version) == 0 ? version / 1000 : 0;
}

// Opens libcupti in the folders where wheels and toolkits install it, relative to libcudart.
static void *open_beside(const char *cudart, int major) {
  const char *slash = strrchr(cudart, '/');
  if (!slash) return NULL;
  size_t folder = (size_t)(slash + 1 - cudart);
  void *library = open_in(cudart, folder, "libcupti.so", major);
  if (!library) library = open_in(cudart, folder, "../../cuda_cupti/lib/libcupti.so", major);
  return library ? library : open_in(cudart, folder, "../extras/CUPTI/lib64/libcupti.so", major);
}

static void *open_major(const char *cudart, int major) {
  static const char kToolkit[] = "/usr/local/cuda/";
  void *library = cudart ? open_beside(cudart, major) : NULL;
  if (!library) library = open_in("", 0, "libcupti.so", major);
  if (!library) library = open_in(kToolkit, sizeof kToolkit - 1, "extras/CUPTI/lib64/libcupti.so", major);
  return library ? library : open_in(kToolkit, sizeof kToolkit - 1, "lib64/libcupti.so", major);
}

static void *open_by_rule(void) {
  void *cudart = NULL;
  int driver = driver_major(), newest = driver ? driver : kNewestMajor;
  int wanted = loaded_major("libcudart.so", kNewestMajor, &cudart);
  const char *path = cudart ? ((const struct link_map *)cudart)->l_name : NULL;
  void *library = wanted && wanted <= newest ? open_major(path, wanted) : NULL;
  for (int major = newest; !library && major >= kOldestMajor; major--)
    if (major != wanted) library = open_major(path, major);
  return library;
}

// The newest loaded libcupti that the driver supports. The driver is called only if several are loaded, because this
// runs inside its cuInit.
static void *open_loaded_cupti(void) {
  void *newest = NULL, *older = NULL;
  int major = loaded_major("libcupti.so", kNewestMajor, &newest);
  if (!major || !loaded_major("libcupti.so", major - 1, &older)) return newest;
  int driver = driver_major();
  return driver && driver < major && loaded_major("libcupti.so", driver, &older) ? older : newest;
}

static const char *get_variable(const char *name) {
  return ((const char *(*)(const char *))session_producer()->function_of_libc("getenv"))(name);
}

static void *open_cupti(void) {
  void *library = open_loaded_cupti();
  if (library) return library;
  const char *named = get_variable("MLRUN_CUPTI");
  if (named && *named) return open_library(named, RTLD_NOW | RTLD_LOCAL);
  return open_by_rule();
}

static bool find_linker(void) {
  const struct mlrun_producer *producer = session_producer();
  open_library = (void *(*)(const char *, int))producer->function("dlopen");
  find_symbol = (void *(*)(void *, const char *))producer->function("dlsym");
  find_version = (void *(*)(void *, const char *, const char *))producer->function("dlvsym");
  close_library = (int (*)(void *))producer->function("dlclose");
  find_module = (int (*)(const void *, Dl_info *, void **, int))producer->function("dladdr1");
  each_module = (int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))producer->function("dl_iterate_phdr");
  return open_library && find_symbol;
}

// The next definition after this library's in symbol lookup order.
static void *find_next(const char *name, const char *version) {
  void *found = version && find_version ? find_version(RTLD_NEXT, name, version) : find_symbol(RTLD_NEXT, name);
  // Prevents a tail call: for RTLD_NEXT, dlsym finds the calling library by its return address.
  __asm__ volatile("" : "+r"(found));
  return found;
}

// Looks a function up in the loaded library of that name or path, and in the libraries that it needs. Keeps no
// reference: only the program decides how long the library stays loaded.
static void *find_in(const char *library_name, const char *name, const char *version) {
  void *library = open_loaded(library_name);
  if (!library) return NULL;
  void *found = find_version ? find_version(library, name, version) : find_symbol(library, name);
  if (close_library) close_library(library);
  return found;
}

// Looks a function up in the caller's file and the libraries that it needs. These are not in the global scope if the
// caller was loaded with RTLD_LOCAL, as Python's extensions are.
static void *find_for(const void *caller, const char *name, const char *version) {
  Dl_info info;
  struct link_map *module = NULL;
  if (!find_module || !find_module(caller, &info, (void **)&module, RTLD_DL_LINKMAP) || !module) return NULL;
  return *module->l_name ? find_in(module->l_name, name, version) : NULL;
}

struct library_search {
  const char *beginning;  // how the file's name must begin
  char path[kPathBytes];  // path of the first such file
};

static int look_at_module(struct dl_phdr_info *module, size_t bytes, void *data) {
  (void)bytes;
  struct library_search *search = data;
  const char *slash = strrchr(module->dlpi_name, '/'), *file = slash ? slash + 1 : module->dlpi_name;
  if (strncmp(file, search->beginning, strlen(search->beginning)) || strlen(module->dlpi_name) >= kPathBytes) return 0;
  strcpy(search->path, module->dlpi_name);
  return 1;
}

// Looks a function up in a loaded library that a wheel has renamed: "libcudart-1b2c3d.so.12" for "libcudart.so". Needed
// after a tail call, when the return address is not in the calling library.
static void *find_bundled(const char *library_name, const char *name, const char *version) {
  char beginning[32] = "";
  struct library_search search = {.beginning = beginning};
  memcpy(beginning, library_name, strcspn(library_name, "."));
  return each_module && each_module(look_at_module, &search) ? find_in(search.path, name, version) : NULL;
}

void *linked_function_behind(const char *library_name, const char *name, struct linked_caller caller) {
  char version[32];
  if (!session_producer() || !find_linker() || strlen(library_name) + 4 > sizeof version) return NULL;
  void *found = find_next(name, library_path(version, "", 0, library_name, caller.major));
  if (!found) found = find_for(caller.returns_to, name, version);
  if (!found) found = find_in(version, name, version);
  return found ? found : find_bundled(library_name, name, version);
}

void *cupti_function_behind(const char *name, struct linked_caller caller) {
  static const char kName[] = "libcupti.so";
  void *library = NULL;
  if (caller.major) return linked_function_behind(kName, name, caller);
  if (!session_producer() || !find_linker()) return NULL;
  void *found = find_next(name, NULL);
  return found || !loaded_major(kName, kNewestMajor, &library) ? found : find_symbol(library, name);
}

struct wanted_function {
  void *place;  // where to store the function pointer
  const char *name;
  bool needed;
};

bool find_cupti(struct cupti_functions *cupti, struct found_cupti *found) {
  found->tried = "this process has no dlopen, so libcupti cannot be loaded";
  if (!find_linker()) return false;
  found->tried = "no libcupti.so.12 to .14 for this program; name one with MLRUN_CUPTI=FILE";
  void *library = open_cupti();
  if (!library) return false;
  found->path = ((const struct link_map *)library)->l_name;
  const struct wanted_function wanted[] = {
      {&cupti->get_version, "cuptiGetVersion", true},
      {&cupti->subscribe, "cuptiSubscribe", true},
      {&cupti->unsubscribe, "cuptiUnsubscribe", true},
      {&cupti->register_callbacks, "cuptiActivityRegisterCallbacks", true},
      {&cupti->enable, "cuptiActivityEnable", true},
      {&cupti->disable, "cuptiActivityDisable", true},
      {&cupti->next_record, "cuptiActivityGetNextRecord", true},
      {&cupti->flush_all, "cuptiActivityFlushAll", true},
      {&cupti->set_attribute, "cuptiActivitySetAttribute", true},
      {&cupti->dropped_records, "cuptiActivityGetNumDroppedRecords", true},
      {&cupti->set_thread_id_type, "cuptiSetThreadIdType", true},
      {&cupti->register_timestamp, "cuptiActivityRegisterTimestampCallback", true},
      {&cupti->callback_name, "cuptiGetCallbackName", true},
      {&cupti->enable_driver_call, "cuptiActivityEnableDriverApi", false},
      {&cupti->enable_runtime_call, "cuptiActivityEnableRuntimeApi", false},
      {&cupti->enable_all_syncs, "cuptiActivityEnableAllSyncRecords", false},
      {&cupti->enable_and_dump, "cuptiActivityEnableAndDump", false},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *address = find_symbol(library, wanted[i].name);
    memcpy(wanted[i].place, &address, sizeof address);
    if (address || !wanted[i].needed) continue;
    found->tried = wanted[i].name;
    return false;
  }
  return true;
}
