// SPDX-License-Identifier: Apache-2.0
// libc10_cuda.so without a GPU, for probes from outside: static probes of the provider pytorch, with the order, widths and
// semaphores of PyTorch's allocator of GPU memory. malloc has one place, free has two, as there. DEVICE: the type of a
// device's number, which was int in old versions. Without WITH_PROBES it is built as with TORCH_DISABLE_SDT.
#include <stddef.h>
#include <stdint.h>

#ifdef WITH_PROBES
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#define SEMAPHORE(name) \
  __extension__ volatile unsigned short pytorch_##name##_semaphore __attribute__((section(".probes"), used))
SEMAPHORE(malloc);
SEMAPHORE(free);
#else
#define STAP_PROBE4(...) (void)(address), (void)(device), (void)(bytes), (void)(stream)
#define STAP_PROBE1(...) (void)(address)
static volatile unsigned short pytorch_malloc_semaphore, pytorch_free_semaphore;
#endif

void mock_allocate(void *address, DEVICE device, size_t bytes, int64_t stream) {
  if (bytes && pytorch_malloc_semaphore > 0) STAP_PROBE4(pytorch, malloc, address, device, bytes, stream);
}
void mock_delete(void *address) {
  if (pytorch_free_semaphore > 0) STAP_PROBE1(pytorch, free, address);
}
void mock_uncached_delete(void *address) {
  if (pytorch_free_semaphore > 0) STAP_PROBE1(pytorch, free, address);
}

int mock_malloc_semaphore(void) { return pytorch_malloc_semaphore; }
int mock_free_semaphore(void) { return pytorch_free_semaphore; }
