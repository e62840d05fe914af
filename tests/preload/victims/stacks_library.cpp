// SPDX-License-Identifier: Apache-2.0
// A shared library on the way: plain, and with frames of exceptions.
#include <stdexcept>
#include <string>

#include "tests/preload/victims/stacks.h"

void through_library(void (*call)(int), int tag) { call(tag), KEEP_FRAME; }

// Allocates in a constructor that runs while an exception is on its way, and in the handler.
struct Guard {
  void (*call)(int);
  int tag;
  ~Guard() { call(tag), KEEP_FRAME; }
};

static __attribute__((noinline)) void throws(void (*call)(int), int tag) {
  const Guard guard{call, tag};
  throw std::runtime_error(std::string(100, 'x'));
}

void through_exception(void (*call)(int), int tag) {
  try {
    throws(call, tag), KEEP_FRAME;
  } catch (const std::runtime_error& error) {
    call(tag + 1), KEEP_FRAME;
  }
}
