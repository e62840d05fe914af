# SPDX-License-Identifier: Apache-2.0
"""A library whose notes place its probes at other code, or their semaphores in other memory, is left as it was: nothing
is written to it, and coverage names the error."""

import g508_gpu_memory_allocated_by_pytorch_is_recorded as g508
import uprobe_case
from lib import case

PLACE, SEMAPHORE = 0, 16  # in a note, behind its head and its owner's name


def changed(this, name, field, value):
    """A copy of the library all of whose notes have that value."""
    library = bytearray(g508.LIBRARY.read_bytes())
    at = -1
    while (at := library.find(b"stapsdt\0", at + 1)) >= 0:
        begin = at + len(b"stapsdt\0") + field
        library[begin:begin + 8] = value.to_bytes(8, "little")
    path = this.path(name) / g508.LIBRARY.name
    path.parent.mkdir()
    path.write_bytes(library)
    return path


def check(this):
    uprobe_case.need_uprobes()
    if not g508.LIBRARY.exists():
        raise case.Skip(f"{g508.LIBRARY} is not built: <sys/sdt.h> is missing (tests/setup/install.sh test)")
    wrong = {"no nop is where": changed(this, "place", PLACE, 0x40), "is outside the library's writable data": changed(this, "counter", SEMAPHORE, 8)}
    for reason, library in wrong.items():
        with uprobe_case.victim(this, library=library, calls=g508.TORCH_CALLS) as one:
            code = "ctypes.string_at(ctypes.cast(torch.mock_allocate, c_void_p).value & ~4095, 4096)"
            before = one.do(code)
            seen = uprobe_case.Observation(this, "--pid", one.pid, kprobes="torch")
            this.equal("its code", one.do(code), before)
            this.equal("its counters", one.do("semaphores()"), (0, 0))
            one.do("allocate(4096, 0, 100, 0)")
            trace = seen.end()
        said = [row["detail"] for row in trace.rows("coverage") if row["subject"] == "calls of PyTorch's allocator"]
        this.true("what is wrong is said", len(said) == 1 and reason in said[0], said)
        this.equal("rows", trace.rows("torch_memory"), [])


if __name__ == "__main__":
    case.run(check)
