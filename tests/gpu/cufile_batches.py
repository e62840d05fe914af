# SPDX-License-Identifier: Apache-2.0
"""What a program does with batches of cuFile, and what their rows must be."""

MOST = 512  # operations of one call that are read: 32 KiB of its memory
MANY = 600
FAILED_HANDLE = 12345
CALLER, THREAD, DRIVER = 0, 1, 2
READ, WRITE = 0, 1
NAMES = {READ: "batch read", WRITE: "batch write"}

CALLS = """
class Operation(ctypes.Structure):
    _fields_ = [("mode", c_int), ("buffer", c_void_p), ("offset", c_longlong), ("buffer_offset", c_longlong),
                ("size", c_size_t), ("handle", c_void_p), ("opcode", c_int), ("cookie", c_void_p)]

class Result(ctypes.Structure):
    _fields_ = [("cookie", c_uint64), ("status", c_int), ("result", c_longlong)]

def set_up(count):
    batch = c_void_p()
    return cufile.cuFileBatchIOSetUp(byref(batch), count).err or batch.value

def submit(mode, batch, operations, flags=0):
    "Each is handle, opcode, offset, size, buffer_offset, cookie."
    cufile.mock_mode(mode)
    entries = (Operation * len(operations))(*[
        Operation(1, ctypes.addressof(buffer), offset, at, size, handle, opcode, cookie)
        for handle, opcode, offset, size, at, cookie in operations])
    return cufile.cuFileBatchIOSubmit(c_void_p(batch), len(operations), entries, flags).err

def results(batch, most):
    count, entries = ctypes.c_uint(most), (Result * most)()
    error = cufile.cuFileBatchIOGetStatus(c_void_p(batch), 0, byref(count), entries, None).err
    return [-error] if error else [(entry.cookie, entry.status, entry.result) for entry in entries[:count.value]]

def cancel(batch):
    return cufile.cuFileBatchIOCancel(c_void_p(batch)).err

def destroy(batch):
    return cufile.cuFileBatchIODestroy(c_void_p(batch))
"""


class Batches:
    def __init__(self, one, read, write):
        self.one, self.read, self.write = one, read, write
        self.calls = []  # (function, error, operations)
        self.operations = []  # (which call, name, file, offset, size, place in the buffer, ret, err, status, posix calls)
        self.bytes_read = self.bytes_written = 0

    def submit(self, mode, batch, operations, outcomes, *, flags=0, error=0):
        """outcomes: (status, ret, err) of each; those beyond MOST have no row."""
        if self.one.do(f"submit({mode}, {batch}, {operations!r}, {flags})") != error:
            raise AssertionError("cuFileBatchIOSubmit")
        self.calls.append(("cuFileBatchIOSubmit", error, len(operations)))
        call = len(self.calls) - 1
        for (handle, opcode, offset, size, at, _), (status, ret, err) in zip(operations[:MOST], outcomes, strict=False):
            path = {self.read[0]: self.read[1], self.write[0]: self.write[1]}.get(handle)
            posix = (2, ret) if mode == THREAD and ret is not None and ret >= 0 else (0, 0)
            self.operations.append((call, NAMES[opcode], str(path) if path else None, offset, size, at, ret, err, status,
                                    *(posix if ret is not None and ret >= 0 else (None, None))))
            moved = ret if ret and ret > 0 else 0
            self.bytes_read += moved if opcode == READ else 0
            self.bytes_written += moved if opcode == WRITE else 0

    def results(self, batch, most):
        found = self.one.do(f"results({batch}, {most})")
        if found:
            self.calls.append(("cuFileBatchIOGetStatus", 0, 0))
        return found

    def call(self, function, batch):
        self.one.do(f"{function}({batch})")
        self.calls.append((f"cuFileBatchIO{function.capitalize()}", 0, 0))

    def check(self, this, trace, rows, tells_posix):
        """Its operations of whose reads and writes there are rows."""
        calls = [row for row in rows if row["batch_id"] is None]
        this.equal("calls of batches", [(row["func"], row["err"], row["operations"]) for row in calls], self.calls)
        this.equal("what they moved themselves", {(row["ret"], row["status"]) for row in calls} - {(-1, None)}, {(None, None)})
        numbers = {row["gpu_file_id"]: number for number, row in enumerate(calls)}
        paths = {path.stat().st_ino: str(path) for _, path in (self.read, self.write)}
        operations = [row for row in rows if row["batch_id"] is not None]
        got = [(numbers[row["batch_id"]], row["func"], paths.get(row["ino"]), row["offset"], row["requested"],
                row["buffer_offset"], row["ret"], row["err"], row["status"], row["posix_calls"], row["posix_bytes"])
               for row in operations]
        wanted = [row if tells_posix else (*row[:9], None, None) for row in self.operations]
        this.equal("operations", got, wanted)
        for row in operations:
            call = calls[numbers[row["batch_id"]]]
            this.equal("begins with its call", row["ts"], call["ts"])
            this.true("ends no earlier than it, if its end is known", row["dur"] >= call["dur"], row)
            this.equal("is no thread's, and its call counts it", (row["thread_id"], row["operations"]), (None, 0))
            this.true("where its bytes are", row["address"], row)
        self.check_what_is_missing(this, trace)
        return [row for row in operations if row["ret"] is not None and row["ret"] >= 0]

    def check_what_is_missing(self, this, trace):
        lost = [(row["unit"], row["count"]) for row in trace.rows("loss") if "batches" in row["unit"]]
        this.equal("beyond what is read", lost, [("operations of libcufile's batches", MANY - MOST)])
        said = sorted(row["kernel"] for row in trace.rows("coverage") if row["subject"] == "results of cuFile's batches")
        this.equal("not asked for, guessed, of operations without a row", said, sorted([1, 1, MANY - MOST]))

    def check_sums(self, this, sums):
        for name, moved in (("batch read", self.bytes_read), ("batch write", self.bytes_written)):
            rows = [row for row in self.operations if row[1] == name]
            this.equal(name, sums[name], (len(rows), sum(row[7] != 0 for row in rows), moved, sum(row[10] or 0 for row in rows)))


def work(this, one, read, write):
    """read, write: a handle and its file. Each batch of another kind."""
    batches = Batches(one, read, write)

    def complete(size):
        return ("complete", size, 0)

    batch = one.do("set_up(1000)")
    this.equal("nothing yet", batches.results(batch, 4), [])
    operations = [(read[0], READ, 0, 4096, 0, 1), (read[0], READ, 1 << 19, 1 << 18, 4096, 2),
                  (write[0], WRITE, 10000, 300, 8, 3), (FAILED_HANDLE, READ, 0, 50, 0, 4)]
    batches.submit(DRIVER, batch, operations, [complete(4096), complete(1 << 18), complete(300), ("failed", -1, 5022)])
    this.equal("the last one first", [row[0] for row in batches.results(batch, 3)], [4, 3, 2])
    this.equal("then the first", [row[0] for row in batches.results(batch, 3)], [1])
    # libcufile's own reads, in threads of its own.
    batches.submit(THREAD, batch, [(read[0], READ, 70000, 5000, 0, 7), (write[0], WRITE, 20000, 6000, 0, 8)],
                   [complete(5000), complete(6000)])
    this.equal("both", len(batches.results(batch, 10)), 2)
    # One cookie for two.
    batches.submit(DRIVER, batch, [(read[0], READ, 0, 100, 0, 9), (read[0], READ, 0, 200, 0, 9)],
                   [complete(100), complete(200)])
    this.equal("both", len(batches.results(batch, 10)), 2)
    batches.submit(DRIVER, batch, [(read[0], READ, 0, 10, 0, 1)], [], flags=1, error=5005)
    batches.submit(DRIVER, batch, [(read[0], READ, 0, 11, 0, 1), (read[0], READ, 0, 12, 0, 2)],
                   [("cancelled", None, 0), complete(12)])
    this.equal("one", len(batches.results(batch, 1)), 1)
    batches.call("cancel", batch)
    batches.call("destroy", batch)
    batch = one.do("set_up(1000)")
    batches.submit(DRIVER, batch, [(read[0], READ, 0, 13, 0, 1)], [("destroyed", None, 0)])
    batches.call("destroy", batch)
    batch = one.do("set_up(1000)")
    many = [(read[0], READ, 1000 * i, 10, 0, i + 1) for i in range(MANY)]
    batches.submit(DRIVER, batch, many, [complete(10)] * MANY)
    this.equal("all", len(batches.results(batch, MANY)), MANY)
    batches.submit(DRIVER, batch, [(read[0], READ, 0, 14, 0, 1)], [(None, None, 0)])
    return batches
