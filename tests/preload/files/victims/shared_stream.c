// SPDX-License-Identifier: Apache-2.0
// shared_stream FILE: four threads write lines to one stream, then read them back through one stream.
#include <pthread.h>
#include <stdio.h>

static FILE *stream;

static void *write_lines(void *number) {
  for (int i = 0; i < 20000; i++) fprintf(stream, "%c line %d\n", *(char *)number, i);
  return NULL;
}
static void *read_lines(void *unused) {
  char line[100];
  while (fgets(line, sizeof line, stream)) continue;
  return unused;
}

static void in_threads(void *(*work)(void *)) {
  static char names[] = "abcd";
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, &names[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  fclose(stream);
}

int main(int count, char **arguments) {
  if (count != 2 || !(stream = fopen(arguments[1], "w"))) return 2;
  in_threads(write_lines);
  stream = fopen(arguments[1], "r");
  in_threads(read_lines);
  return 0;
}
