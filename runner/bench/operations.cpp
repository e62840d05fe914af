// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/operations.h"

#include <array>

namespace mlrun::bench {

namespace {

// clang-format off
constexpr std::array kOperations = {
    //         name              text                                       loop               calls events first  paused compared quick pairs
    Operation{"tsc",             "one reading of the time stamp counter",   "tsc",             1, 0, 10000, false, false, 0},
    Operation{"monotonic",       "one reading of CLOCK_MONOTONIC",          "monotonic",       1, 0,  3000, false, false, 0},
    Operation{"alloc_listed",    "malloc or free with a row of its own",    "malloc_listed",   2, 2,  2000, false, true, 7},
    Operation{"alloc_counted",   "malloc or free that is only counted",     "malloc_counted",  2, 2,  5000, false, true, 0},
    Operation{"pread",           "pread of 0 bytes",                        "pread",           1, 1,   200, false, true, 7},
    Operation{"read",            "read of 0 bytes",                         "read",            1, 1,   200, false, true, 0},
    Operation{"write",           "write of 0 bytes",                        "write",           1, 1,   200, false, true, 0},
    Operation{"close",           "close",                                   "close",           1, 1,   256, false, true, 0},
    Operation{"open_close",      "open and close",                          "open_close",      1, 2,    64, false, true, 7},
    Operation{"fstat",           "fstat",                                   "fstat",           1, 1,   200, false, true, 0},
    Operation{"stat",            "stat",                                    "stat",            1, 1,   100, false, true, 7},
    Operation{"stdio",           "fread of 1 byte from the stdio buffer",   "fread_byte",      1, 0,  2000, false, true, 7},
    Operation{"mark",            "begin or end of a range of marks",        "mark_range",      2, 2,  2000, false, true, 7},
    Operation{"post",            "sem_post without a waiter",               "sem_post",        1, 0,  5000, false, true, 0},
    Operation{"signal",          "pthread_cond_signal without a waiter",    "cond_signal",     1, 0,  5000, false, true, 0},
    Operation{"wake",            "FUTEX_WAKE by number without a waiter",   "futex_wake",      1, 0,   200, false, true, 0},
    Operation{"post_wait",       "sem_post, and sem_wait without blocking", "sem_post_wait",   1, 0,  2000, false, true, 0},
    Operation{"idle",            "pread of 0 bytes while paused",           "pread",           1, 0,   200, true,  true, 0},
    Operation{"fork",            "fork, _exit and waitpid",                 "fork",            1, 1,     2, false, true, 5},
    Operation{"exec",            "posix_spawn of a program and waitpid",    "exec",            1, 1,     1, false, true, 3},
    Operation{"thread",          "a thread, from creation to join",         "thread",          1, 1,     4, false, true, 5},
    Operation{"alloc_some_live", "malloc or free, 50,000 blocks alive",     "malloc_some_live",2, 2,  1000, false, true, 7},
    Operation{"alloc_live",      "malloc or free, 400,000 blocks alive",    "malloc_live",     2, 2,  1000, false, true, 0},
};
// clang-format on

}  // namespace

std::span<const Operation> operations() { return kOperations; }

}  // namespace mlrun::bench
