// SPDX-License-Identifier: Apache-2.0
// A library that allocates memory of the GPU in functions of its own and copies, linked with libcudart as libc10_cuda is.
#include <pthread.h>
#include <stddef.h>

extern int cudaMalloc(void **address, size_t bytes);
extern int cudaMallocAsync(void **address, size_t bytes, void *stream);
extern int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height);
extern int cudaFree(void *address);
extern int cudaMallocHost(void **address, size_t bytes);
extern int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream);

enum { kLeaked = 4096, kScratch = 8192, kPart = 1 << 20, kRow = 500, kRows = 3 };
#define OWN __attribute__((noinline, noclone, visibility("default")))

// Nothing of it is a tail call: its frame would be gone.
static volatile int failures;

OWN void leak_a_block(void) {
  void *block;
  failures += cudaMalloc(&block, kLeaked) != 0;
}
OWN void *use_scratch(void *nothing) {
  void *block;
  failures += cudaMalloc(&block, kScratch) != 0;
  failures += cudaFree(block) != 0;
  return nothing;
}
OWN void build_model(void) {
  void *block;
  size_t pitch;
  failures += cudaMalloc(&block, kPart) != 0;
  failures += cudaMallocAsync(&block, kPart, NULL) != 0;
  failures += cudaMallocPitch(&block, &pitch, kRow, kRows) != 0;
}
OWN void ask_for_too_much(void) {
  void *block = NULL;
  failures += cudaMalloc(&block, (size_t)1 << 50) != 2;
}

// Failures: calls that did not answer what libcudart has answered.
OWN int allocate_all(long count) {
  pthread_t thread;
  build_model();
  for (long i = 0; i < count; i++) {
    leak_a_block();
    use_scratch(NULL);
    ask_for_too_much();
  }
  failures += pthread_create(&thread, NULL, use_scratch, NULL) != 0;
  failures += pthread_join(thread, NULL) != 0;
  return failures;
}

// For the mock PyTorch (../fakes/torch).
OWN void *pin(size_t bytes) {
  void *block = NULL;
  failures += cudaMallocHost(&block, bytes) != 0;
  return block;
}
OWN int copy(void *target, const void *source, size_t bytes, int kind) {
  failures += cudaMemcpyAsync(target, source, bytes, kind, NULL) != 0;
  return failures;
}
