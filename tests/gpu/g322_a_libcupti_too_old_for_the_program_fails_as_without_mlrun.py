# SPDX-License-Identifier: Apache-2.0
"""If the loaded libcupti is older than a library of the program needs, that library fails to load as it does without
mlrun, and the GPU's work is recorded. To avoid that mlrun itself loads it too early, a libcupti can be named."""

import sys

from lib import case

import cupti_case
from mock_kernels import MOCK_KERNELS

KERNELS, UNKNOWN_ERROR = 20, 999
OLD, NEW = (str(cupti_case.PLACE / folder / "libcupti.so.13") for folder in ("13-old", "13"))

# Loads the first libcupti, where one is named, before CUDA starts, and the library that needs a function of a newer one after it.
PROGRAM = """
import ctypes, sys
first, library = sys.argv[1:3]
if first:
    ctypes.CDLL(first)
""" + MOCK_KERNELS + """
try:
    print("answer", ctypes.CDLL(library).call_newer())
except OSError as error:
    print("error", error)
for kernel in range(int(sys.argv[3])):
    launch(b"_Z5trainv", 1000)
"""


def both(this, first, function, **more):
    """The program's output without mlrun and with it, and the trace. The linker finds the old library by itself."""
    library = cupti_case.PLACE / f"libneeds_{function}.so"
    environment = cupti_case.mock_environment(this, "13-old") | more
    command = [sys.executable, "-c", PROGRAM, first, library, KERNELS]
    plain = this.run(*command, env=environment)
    this.equal("exit status without mlrun", plain.returncode, 0, said=plain.stderr)
    trace = this.trace(*command, options=["--cupti", "--lossless"], env=environment)
    this.equal("kernels", len(trace.rows("gpu_kernel")), KERNELS)
    this.equal("losses", trace.rows("loss"), [])
    return plain.stdout, trace.stdout, [library["file"] for library in trace.run["gpu_work"]["libraries"]]


def check(this):
    for first in (OLD, NEW):
        plain, traced, used = both(this, first, "cuptiSubscribe_v2")
        this.equal("what the program says", traced, plain)
        this.equal("it loads where the libcupti has the function", plain.startswith("answer 0"), first == NEW)
        this.true("else that is missing", first == NEW or "undefined symbol: cuptiSubscribe_v2" in plain, plain)
        this.equal("mlrun uses the program's", used, [first])

    # The linker resolves functions that mlrun's library defines; without CUPTI, these return CUPTI's error.
    plain, traced, _ = both(this, OLD, "cuptiActivityEnableAllSyncRecords")
    this.true("without mlrun", plain.startswith("error"), plain)
    this.equal("with mlrun", traced, f"answer {UNKNOWN_ERROR}\n")

    # The program loads its libcupti after mlrun has loaded another one.
    plain, traced, used = both(this, "", "cuptiSubscribe_v2", MLRUN_CUPTI=NEW)
    this.equal("one that comes later, named", (plain, traced, used), ("answer 0\n", "answer 0\n", [NEW]))
    plain, traced, used = both(this, "", "cuptiSubscribe_v2")
    this.equal("and not named (cupti/README.md)", (plain, traced.split()[0], used), ("answer 0\n", "error", [OLD]))


if __name__ == "__main__":
    case.run(check)
