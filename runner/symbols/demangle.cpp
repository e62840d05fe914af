// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/demangle.h"

#define HAVE_DECL_BASENAME 1  // libiberty's headers would declare it otherwise than <cstring>
#include <libiberty/demangle.h>
#include <pthread.h>

#include <csetjmp>
#include <cstring>

namespace mlrun::symbols {

namespace {

// libiberty goes as deep as the name is nested, and lays out an array of twice its length on the stack. Nothing of it
// takes memory before it is touched.
constexpr size_t kStackBytes = size_t{64} << 20;
constexpr size_t kShallowBytesMax = 1024;  // nested no deeper than any thread has room for
// Longer ones nest deeper than the stack above is known to do for; none that a compiler made is.
constexpr size_t kMangledBytesMax = 16384;

struct Work {
  const char* name = nullptr;
  std::string text;
  bool is_done = false;
  std::jmp_buf too_long{};
};

// libstdc++'s function takes no names of more than 1,024 bytes, and cannot be stopped. This one has callbacks; it keeps nothing
// outside of the stack meanwhile, so that it can be left in one.
void add(const char* piece, size_t bytes, void* opaque) {
  Work& work = *static_cast<Work*>(opaque);
  const size_t room = kDemangledBytesMax - work.text.size();
  if (bytes > room) std::longjmp(work.too_long, 1);  // NOLINT(cert-err52-cpp): the frames between are C's
  work.text.append(piece, bytes);                    // reserved: throws nothing through them
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

bool works(Demangler demangle, Work& work) {
  constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;
  work.text.clear();
  return demangle(work.name, kOptions, add, &work) != 0;
}

void* demangle(void* opaque) {
  Work& work = *static_cast<Work*>(opaque);
  if (setjmp(work.too_long) != 0) return nullptr;  // NOLINT(cert-err52-cpp): as above
  // Names of older Rust are names of C++, with a hash behind that only Rust's reading leaves out.
  work.is_done = works(rust_demangle_callback, work) || works(cplus_demangle_v3_callback, work);
  return nullptr;
}

bool run_with_room(Work& work) {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread{};
  const bool has_begun = ::pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                         ::pthread_create(&thread, &attributes, demangle, &work) == 0;
  ::pthread_attr_destroy(&attributes);
  if (has_begun) ::pthread_join(thread, nullptr);
  return has_begun && work.is_done;
}

}  // namespace

std::string demangled(std::string_view name) {
  const bool is_mangled = name.starts_with("_Z") || name.starts_with("_R");
  if (!is_mangled || name.size() > kMangledBytesMax) return std::string(name);
  const std::string ended(name);
  Work work;
  work.name = ended.c_str();
  work.text.reserve(kDemangledBytesMax);
  if (name.size() > kShallowBytesMax) return run_with_room(work) ? work.text : ended;
  demangle(&work);
  return work.is_done ? work.text : ended;
}

}  // namespace mlrun::symbols
