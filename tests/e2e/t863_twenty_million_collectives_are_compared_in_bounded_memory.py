# SPDX-License-Identifier: Apache-2.0
"""Collectives of NCCL, with the kernels that CUDA launched for them, by a generator that knows the clocks: the true offset is within the error, the
rank that was made late is last, and memory does not grow with their number. MLRUN_COLLECTIVES: how many in all."""

import os
import resource
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from lib import case, nodes
from t856_merges_of_unusual_traces_are_correct_or_one_line import Traces, write_rows

COLLECTIVES = int(os.environ.get("MLRUN_COLLECTIVES", "20_000_000"))
NODES = 4
MEBIBYTES_MOST = 512
LATE, LATE_NS = 2, 60_000  # this node begins so much later in every third collective
STEP_NS, CHUNK = 100_000, 1_000_000
OFFSET_NS, PPM = 50_000_000, 20


def moments(traces, node, numbers):
    """Begin of the call, and end of the kernel: all ranks have begun by then."""
    chance = np.random.default_rng(int(numbers[0]) * NODES + node)
    is_late = numbers % 3 == 0
    begin = traces.start_ns + numbers * STEP_NS + chance.integers(0, 5_000, len(numbers)) + np.where(is_late & (node == LATE), LATE_NS, 0)
    end = traces.start_ns + numbers * STEP_NS + 8_000 + chance.integers(0, 2_000, len(numbers)) + np.where(is_late, LATE_NS, 0)
    if node == NODES - 1:
        begin, end = (at + OFFSET_NS + ((at - traces.start_ns) * PPM) // 1_000_000 for at in (begin, end))
    return begin, end


def write_table(trace, table, chunks):
    """Columns that a chunk lacks are null, or the same in all rows."""
    [path] = (trace / "tables" / table).glob("*.parquet")
    schema = pq.read_schema(path)
    plain = pa.schema([pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type, field.nullable)
                       for field in schema], schema.metadata)
    with pq.ParquetWriter(path, plain, compression="zstd", compression_level=1) as writer:
        for columns in chunks:
            rows = len(next(iter(columns.values())))
            empty = {"int64": 1, "int32": 1, "string": "x", "bool": False}
            arrays = []
            for field in plain:
                if field.name in columns:
                    value = columns[field.name]
                    arrays.append(pa.array(value, field.type) if not isinstance(value, str) else pa.repeat(pa.scalar(value, field.type), rows))
                elif field.nullable:
                    arrays.append(pa.nulls(rows, field.type))
                else:
                    arrays.append(pa.repeat(pa.scalar(empty.get(str(field.type), 0), field.type), rows))
            writer.write_table(pa.table(arrays, plain), row_group_size=128 * 1024)


def chunks_of(traces, node, count, make):
    for first in range(0, count, CHUNK):
        numbers = np.arange(first, min(count, first + CHUNK), dtype=np.int64)
        yield make(numbers, *moments(traces, node, numbers))


def make_node(traces, node, count):
    trace = traces.copy(name=f"node{node}")
    same = np.ones
    write_rows(trace, "name", {"name_id": 1, "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL"}, {"name_id": 2, "name": "gemm"})
    write_table(trace, "collective", chunks_of(traces, node, count, lambda numbers, begin, _: {
        "ts": begin, "dur": same(len(numbers), np.int64) * 5_000, "proc_id": same(len(numbers), np.int32), "thread_id": same(len(numbers), np.int32),
        "sequence": numbers, "operation": "AllReduce", "communicator": "c0ffee"}))
    # Every collective has its launch, and as many calls of CUDA launch something else.
    write_table(trace, "gpu_api", chunks_of(traces, node, count, lambda numbers, begin, _: {
        "ts": np.stack([begin - 1_000, begin + 1_000], 1).ravel(), "dur": same(2 * len(numbers), np.int64) * 500,
        "proc_id": same(2 * len(numbers), np.int32), "thread_id": same(2 * len(numbers), np.int32),
        "correlation_id": np.stack([2 * numbers + 2, 2 * numbers + 3], 1).ravel()}))
    write_table(trace, "gpu_kernel", chunks_of(traces, node, count, lambda numbers, begin, end: {
        "ts": begin + 2_000, "dur": end - begin - 2_000, "proc_id": same(len(numbers), np.int32), "correlation_id": 2 * numbers + 3,
        "name_id": same(len(numbers), np.int64)}))
    return trace


def check(this, collectives=COLLECTIVES):
    this.mlrun = case.MLRUN
    traces, count = Traces(this), collectives // NODES
    made = [make_node(traces, node, count) for node in range(NODES)]
    out, begin, before = this.path("merged"), time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = nodes.merge(this, *made, out=out, options=["--quiet"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    mebibytes = after.ru_maxrss / 1024
    print(f"{NODES * count} collectives: {time.monotonic() - begin:.1f} s, "
          f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s of processors, {mebibytes:.0f} MiB")
    this.equal("said", done.stderr, "")
    merged = nodes.merged(out)
    shifted = merged["nodes"][-1]
    this.equal("known by", (shifted["aligned_by"], shifted["collectives"]), ("messages", count))
    this.true("the true offset is within the error", abs(shifted["offset_ns"] - OFFSET_NS) <= shifted["error_ns"], shifted)
    this.true("which is that of the collectives", shifted["error_ns"] < 20_000, shifted)
    this.true("the drift", abs(shifted["drift_ppb"] - PPM * 1000) < 1000 or count < 100_000, shifted)
    [skew] = merged["skews"]
    this.equal("compared", (skew["communicator"], skew["operation"], skew["compared"]), ("c0ffee", "AllReduce", count))
    this.true("how far apart", LATE_NS <= skew["skew_max_ns"] <= LATE_NS + 5_000 + skew["error_ns"], skew)
    late = [row["last_times"] for row in merged["ranks"]]
    this.true("who was last: in each third, and where chance made it so", count <= sum(late) * 3 and max(late) == late[LATE] >= count // 3, late)
    this.true(f"at most {MEBIBYTES_MOST} MiB", mebibytes <= MEBIBYTES_MOST, mebibytes)


if __name__ == "__main__":
    case.run(check)
