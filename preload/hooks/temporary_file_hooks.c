// SPDX-License-Identifier: Apache-2.0
// Functions that make a file whose name libc chooses. After the call the name is in the template; tmpfile's is unknown.
#include <stdio.h>
#include <stdlib.h>

#include "preload/base/real_function.h"
#include "preload/calls/capture.h"
#include "preload/calls/path_call.h"

enum { kNewFileFlags = O_RDWR | O_CREAT | O_EXCL, kNewFileMode = 0600 };

static FILE *traced_tmpfile(FILE *(*real)(void)) {
  struct path_call call PATH_CALL_CLEANUP = {
      .call.kind = KIND_tmpfile, .call.fd = AT_FDCWD, .call.requested = PAIR(kNewFileFlags, kNewFileMode)};
  begin_path_call(&call);
  FILE *stream = real();
  end_unnamed_open(&call, stream ? stream->_fileno : -1);
  return stream;
}

EXPORT FILE *tmpfile(void) {
  REAL(FILE *, tmpfile, void);
  return traced_tmpfile(real);
}

EXPORT FILE *tmpfile64(void) {
  REAL(FILE *, tmpfile64, void);
  return traced_tmpfile(real);
}

#define TEMPLATE_HOOK(symbol_name, parameters, arguments, types, flags)                                       \
  EXPORT int symbol_name parameters {                                                                         \
    static int(*real) types;                                                                                  \
    if (unlikely(!real)) real = (int(*) types)next_symbol(#symbol_name);                                      \
    struct path_call call PATH_CALL_CLEANUP = {.call.kind = KIND_mkstemp,                                     \
                                               .call.fd = AT_FDCWD,                                           \
                                               .call.requested = PAIR(kNewFileFlags | (flags), kNewFileMode), \
                                               .path = template,                                              \
                                               .opens = true};                                                \
    begin_path_call(&call);                                                                                   \
    int result = real arguments;                                                                              \
    end_path_call(&call, result);                                                                             \
    return result;                                                                                            \
  }
TEMPLATE_HOOK(mkstemp, (char *template), (template), (char *), 0)
TEMPLATE_HOOK(mkstemp64, (char *template), (template), (char *), 0)
TEMPLATE_HOOK(mkostemp, (char *template, int flags), (template, flags), (char *, int), flags)
TEMPLATE_HOOK(mkostemp64, (char *template, int flags), (template, flags), (char *, int), flags)
TEMPLATE_HOOK(mkstemps, (char *template, int suffix), (template, suffix), (char *, int), 0)
TEMPLATE_HOOK(mkstemps64, (char *template, int suffix), (template, suffix), (char *, int), 0)
TEMPLATE_HOOK(mkostemps, (char *template, int suffix, int flags), (template, suffix, flags), (char *, int, int), flags)
TEMPLATE_HOOK(mkostemps64, (char *template, int suffix, int flags), (template, suffix, flags), (char *, int, int),
              flags)
