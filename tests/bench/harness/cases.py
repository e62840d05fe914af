# SPDX-License-Identifier: Apache-2.0
"""The measured loops, the tools that each compares with mlrun, and mlrun's budget."""

from collections.abc import Callable
from dataclasses import dataclass

ALLOCATION_PEERS = ("heaptrack-raw", "heaptrack", "uftrace", "lttng-ust", "memray")
STACK_PEERS = ("heaptrack-raw",)
FILE_PEERS = ("strace", "uftrace", "dftracer")
PROCESS_PEERS = ("strace", "dftracer")
BY_HAND = "by-hand"  # no tracer: the untraced program that calls fstat itself


@dataclass(frozen=True)
class Budget:
    """What a call may cost more than untraced, given what one rdtsc costs on this machine and, where the case has such a
    row, what the program adds that does by hand what mlrun has to do."""

    tracer: str
    text: str
    limit_ns: Callable[[float, float], float]
    half_of_peer: bool = False  # and at most half of what the best peer adds in the same run


@dataclass(frozen=True)
class Case:
    name: str
    loop: str  # of victims/
    iterations: int
    about: str
    tracers: tuple  # names; each is paired with the untraced program
    threads: int = 1
    by_hand: str = ""  # loop that also does what mlrun has to do
    silent: bool = False  # leaves no records: none is missing
    sparse: bool = False  # reads a file of 64 GiB that is one hole, not the cached one
    budgets: tuple = ()
    pairs: int = 0  # of mlrun, where it is not the number asked for
    max_bytes_per_event: float = 0.0
    max_exit_s_per_3m: float = 0.0


RECORDED = Budget("mlrun", "1 rdtsc + 4", lambda rdtsc, by_hand: rdtsc + 4)
RECORDED_ALL = Budget("mlrun-all", "1 rdtsc + 4", lambda rdtsc, by_hand: rdtsc + 4)
COUNTED_HOT = Budget("mlrun", "3", lambda rdtsc, by_hand: 3)
COUNTED_LIVE = Budget("mlrun", "25", lambda rdtsc, by_hand: 25)
FILE_CALL = Budget("mlrun", "2 rdtsc + 20", lambda rdtsc, by_hand: 2 * rdtsc + 20, half_of_peer=True)
KERNEL_SIDE = Budget("mlrun-kernel", "2 rdtsc + 20 + 400", lambda rdtsc, by_hand: 2 * rdtsc + 420)
CALLS_ALONE = Budget("mlrun-calls", "400", lambda rdtsc, by_hand: 400, half_of_peer=True)
NEIGHBOUR = Budget("neighbour", "20", lambda rdtsc, by_hand: 20)
OPEN_READ_CLOSE = Budget("mlrun", "2 rdtsc + 20 + fstat by hand", lambda rdtsc, by_hand: 2 * rdtsc + 20 + by_hand)
POST = Budget("mlrun", "4", lambda rdtsc, by_hand: 4)
FORK = Budget("mlrun", "100 us", lambda rdtsc, by_hand: 100e3)
EXEC = Budget("mlrun", "300 us", lambda rdtsc, by_hand: 300e3)

CASES = [
    Case(
        "malloc_large",
        "malloc_large",
        300_000,
        "malloc and free of 1,024 to 5,119 bytes: recorded",
        ("mlrun", *ALLOCATION_PEERS),
        budgets=(RECORDED,),
    ),
    Case(
        "malloc_large_2",
        "malloc_large",
        300_000,
        "the same in 2 threads",
        ("mlrun", "heaptrack-raw", "uftrace", "lttng-ust"),
        threads=2,
    ),
    Case(
        "malloc_mixed",
        "malloc_mixed",
        300_000,
        "malloc and free of 64 to 4,159 bytes: recorded or counted",
        ("mlrun", "mlrun-all"),
        budgets=(RECORDED_ALL,),
    ),
    Case(
        "malloc_small",
        "malloc_small",
        2_000_000,
        "malloc and free of 16 to 271 bytes, 16 alive: counted",
        ("mlrun",),
        budgets=(COUNTED_HOT,),
    ),
    Case("malloc_small_2", "malloc_small", 2_000_000, "the same in 2 threads", ("mlrun",), threads=2),
    Case(
        "malloc_small_all",
        "malloc_small",
        300_000,
        "the same in 1 thread: recorded",
        ("mlrun-all", *ALLOCATION_PEERS),
        budgets=(RECORDED_ALL,),
    ),
    Case(
        "malloc_live",
        "malloc_live",
        400_000,
        "malloc and free of 16 to 527 bytes, 400,000 alive: counted",
        ("mlrun",),
        budgets=(COUNTED_LIVE,),
    ),
    Case(
        "malloc_below_16",
        "malloc_below_16",
        100_000,
        "malloc and free of 1,024 to 5,119 bytes below 16 frames, with stacks",
        ("mlrun-stacks", *STACK_PEERS),
    ),
    Case(
        "malloc_below_32",
        "malloc_below_32",
        100_000,
        "the same below 32 frames",
        ("mlrun-stacks", *STACK_PEERS),
    ),
    Case("pread_empty", "pread_empty", 300_000, "pread of 0 bytes", ("mlrun", *FILE_PEERS), budgets=(FILE_CALL,)),
    Case("pread_empty_2", "pread_empty", 300_000, "the same in 2 threads", ("mlrun", "uftrace", "dftracer"), threads=2),
    Case(
        "pread_random",
        "pread_random",
        100_000,
        "pread of a random cached 4 KiB page",
        ("mlrun", *FILE_PEERS),
        budgets=(FILE_CALL,),
    ),
    Case(
        "pread_kernel",
        "pread_random",
        100_000,
        "the same with the kernel side, as root",
        ("mlrun", "mlrun-kernel"),
        budgets=(KERNEL_SIDE,),
    ),
    Case(
        "pread_beside",
        "pread_random",
        100_000,
        "the same, untraced beside a program that is traced with the kernel side",
        ("neighbour",),
        budgets=(NEIGHBOUR,),
    ),
    Case(
        "pread_empty_calls",
        "pread_empty",
        300_000,
        "pread of 0 bytes without the library: file operations by the kernel side alone",
        ("mlrun-calls", "neighbour-calls", "bpftrace"),
        budgets=(CALLS_ALONE,),
    ),
    Case(
        "pread_calls",
        "pread_random",
        100_000,
        "pread of a random cached 4 KiB page without the library",
        ("mlrun-calls", "neighbour-calls", "bpftrace"),
        budgets=(CALLS_ALONE,),
    ),
    Case(
        "open_read_close",
        "open_read_close",
        50_000,
        "open, read of 4 KiB and close",
        ("mlrun", BY_HAND, *FILE_PEERS),
        by_hand="open_fstat_read_close",
        budgets=(OPEN_READ_CLOSE,),
    ),
    Case("open_read_close_2", "open_read_close", 50_000, "the same in 2 threads", ("mlrun",), threads=2),
    Case(
        "sem_post",
        "sem_post",
        5_000_000,
        "sem_post that no thread waits for: not recorded",
        ("mlrun",),
        budgets=(POST,),
        silent=True,
    ),
    Case(
        "cond_signal",
        "cond_signal",
        5_000_000,
        "pthread_cond_signal that no thread waits for: not recorded",
        ("mlrun",),
        budgets=(POST,),
        silent=True,
    ),
    Case(
        "notify_waiters",
        "notify_waiters",
        2_000_000,
        "a queue with a lock, two takers and a notification for each item",
        ("mlrun",),
        silent=True,
    ),
    Case("fork_exit", "fork_exit", 400, "fork, _exit and waitpid", ("mlrun", *PROCESS_PEERS), budgets=(FORK,)),
    Case(
        "spawn_true",
        "spawn_true",
        150,
        "posix_spawn of /bin/true and waitpid",
        ("mlrun", *PROCESS_PEERS),
        budgets=(EXEC,),
    ),
    Case(
        "pread_without_cuda",
        "pread_empty",
        300_000,
        "pread of 0 bytes by a program that uses no CUDA, with the GPU side",
        ("mlrun", "mlrun-cupti"),
    ),
    Case(
        "malloc_without_cuda",
        "malloc_small",
        2_000_000,
        "malloc and free of 16 to 271 bytes by such a program: counted",
        ("mlrun", "mlrun-cupti"),
    ),
    Case(
        "spawn_without_cuda",
        "spawn_true",
        150,
        "posix_spawn of such a program and waitpid",
        ("mlrun", "mlrun-cupti"),
    ),
    Case(
        "trace_size",
        "pread_random",
        300_000,
        "pread of 4 KiB at uniform offsets of a sparse file of 64 GiB",
        ("mlrun",),
        sparse=True,
        pairs=5,
        max_bytes_per_event=8,
    ),
    Case(
        "exit_time",
        "malloc_mixed",
        1_500_000,
        "3 million allocations recorded: command's end to prompt",
        ("mlrun-all",),
        pairs=5,
        max_exit_s_per_3m=1,
    ),
]

TRAINING = "training"
TRAINING_ABOUT = "tests/workloads/train.py with 2 forked loader workers, from start to end"
TRAINING_TRACERS = ("null", "control", "mlrun", "mlrun-cupti", "mlrun-all", "strace", "memray", "dftracer", "heaptrack")
