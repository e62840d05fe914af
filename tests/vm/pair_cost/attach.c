// SPDX-License-Identifier: Apache-2.0
// Attaches all programs of a BPF object, prints that, and keeps them attached until its input ends. Usage: attach OBJECT
#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct bpf_object* object = argc == 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
  struct bpf_program* program = NULL;
  if (object == NULL || bpf_object__load(object) != 0) return 1;
  bpf_object__for_each_program(program, object) {
    if (bpf_program__attach(program) == NULL) return 1;
  }
  puts("attached");
  fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
