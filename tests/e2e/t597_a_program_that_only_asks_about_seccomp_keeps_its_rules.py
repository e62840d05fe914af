# SPDX-License-Identifier: Apache-2.0
"""A program asks which seccomp actions the kernel has, and tries calls that fail, as libseccomp does: rules about mappings hold as before. Once a
filter is installed, they place nothing more."""

from lib import case

SIZE = 64 << 20
CALLS = f"""
import ctypes, mmap, struct
libc = ctypes.CDLL(None, use_errno=True)
number, null = ctypes.c_long, ctypes.c_void_p()
def call(function, *arguments):
    print(function.__name__, function(*arguments) < 0 and ctypes.get_errno())
def map():
    return mmap.mmap(-1, {SIZE}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
action = ctypes.c_uint32(0x7fff0000)
call(libc.syscall, number(317), number(2), number(0), ctypes.byref(action))  # SECCOMP_GET_ACTION_AVAIL
call(libc.syscall, number(317), number(1), number(0), null)  # SECCOMP_SET_MODE_FILTER
call(libc.syscall, number(157), number(22), number(2), null)  # prctl(PR_SET_SECCOMP)
call(libc.prctl, 22, number(2), null)
call(libc.prctl, 22, number(77), null)
first, second = map(), map()
filter = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000), 8)  # allows everything
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(filter)), 16)
call(libc.prctl, 38, number(1), number(0), number(0), number(0))  # PR_SET_NO_NEW_PRIVS
call(libc.prctl, 22, number(2), program)
third = map()
"""


def check(this):
    for options in (("--place", f"mmap size >= {SIZE} -> node 0"), ("--preload=off", "--place", f"mmap size >= {SIZE} -> node 0")):
        trace = this.untraced_and_traced("/usr/bin/python3", "-c", CALLS, options=options)
        (process,) = trace.run["placement"]["processes"]
        this.equal("mappings before the filter", [(rule["matches"], rule["fallbacks"]) for rule in process["rules"]], [(2, 0)])


if __name__ == "__main__":
    case.run(check)
