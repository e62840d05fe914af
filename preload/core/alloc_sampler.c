// SPDX-License-Identifier: Apache-2.0
#include "preload/core/alloc_sampler.h"

HOT uint64_t sample_bytes;

// The next number of a thread's sequence (xorshift64*).
static uint64_t next_random(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 0x2545f4914f6cdd1dull;
}

// -ln(u) for u in (0, 1], within 1e-12; libm may not be linked. u = m * 2^-e with m in [sqrt(1/2), sqrt(2)), and
// ln(m) = 2 artanh((m - 1) / (m + 1)).
static double minus_ln(double u) {
  double exponent = 0;
  while (u < 0x1p-16) {
    u *= 0x1p16;
    exponent += 16;
  }
  while (u < 0.70710678118654752) {
    u *= 2;
    exponent += 1;
  }
  double z = (u - 1) / (u + 1), square = z * z, sum = 0;
  for (int term = 15; term > 0; term -= 2) sum = sum * square + 1.0 / term;
  return exponent * 0.69314718055994531 - 2 * z * sum;
}

// Bytes to the next point: exponentially distributed.
static int64_t draw(struct alloc_sampler *sampler) {
  double u = (double)((next_random(&sampler->random) >> 11) + 1) * 0x1p-53;
  double bytes = minus_ln(u) * (double)sample_bytes;
  return bytes < 0x1p62 ? (int64_t)bytes + 1 : (int64_t)1 << 62;
}

// The exponential distribution is memoryless: after a block with a point in it a new distance is drawn from the block's
// end.
bool sampler_passes_point(struct alloc_sampler *sampler, size_t size, uint64_t seed) {
  if (!sampler->random) {
    sampler->random = (seed ^ 0x9e3779b97f4a7c15ull) | 1;
    for (int i = 0; i < 4; i++) next_random(&sampler->random);
    sampler->left = draw(sampler);
    if (size < (size_t)INT64_MAX) sampler->left -= (int64_t)size;
    if (size < (size_t)INT64_MAX && sampler->left > 0) return false;
  }
  sampler->left = draw(sampler);
  return true;
}
