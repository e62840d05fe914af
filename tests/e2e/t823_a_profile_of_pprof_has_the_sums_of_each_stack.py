# SPDX-License-Identifier: Apache-2.0
"""The profile is read by its published schema with protobuf: no unknown field, the sums of the tables, and frames in order."""

import gzip

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from lib import case
from lib.exported import every_row_is_told_of, export, rows_of, trace_of

# profile.proto of github.com/google/pprof: name, number, type, and whether it repeats.
MESSAGES = {
    "Profile": [("sample_type", 1, "ValueType", True), ("sample", 2, "Sample", True), ("mapping", 3, "Mapping", True), ("location", 4, "Location", True),
                ("function", 5, "Function", True), ("string_table", 6, "string", True), ("drop_frames", 7, "int64", False), ("keep_frames", 8, "int64", False),
                ("time_nanos", 9, "int64", False), ("duration_nanos", 10, "int64", False), ("period_type", 11, "ValueType", False), ("period", 12, "int64", False),
                ("comment", 13, "int64", True), ("default_sample_type", 14, "int64", False)],
    "ValueType": [("type", 1, "int64", False), ("unit", 2, "int64", False)],
    "Sample": [("location_id", 1, "uint64", True), ("value", 2, "int64", True), ("label", 3, "Label", True)],
    "Label": [("key", 1, "int64", False), ("str", 2, "int64", False), ("num", 3, "int64", False), ("num_unit", 4, "int64", False)],
    "Mapping": [("id", 1, "uint64", False), ("memory_start", 2, "uint64", False), ("memory_limit", 3, "uint64", False), ("file_offset", 4, "uint64", False),
                ("filename", 5, "int64", False), ("build_id", 6, "int64", False), ("has_functions", 7, "bool", False), ("has_filenames", 8, "bool", False),
                ("has_line_numbers", 9, "bool", False), ("has_inline_frames", 10, "bool", False)],
    "Location": [("id", 1, "uint64", False), ("mapping_id", 2, "uint64", False), ("address", 3, "uint64", False), ("line", 4, "Line", True), ("is_folded", 5, "bool", False)],
    "Line": [("function_id", 1, "uint64", False), ("line", 2, "int64", False), ("column", 3, "int64", False)],
    "Function": [("id", 1, "uint64", False), ("name", 2, "int64", False), ("system_name", 3, "int64", False), ("filename", 4, "int64", False), ("start_line", 5, "int64", False)],
}


def profile_class():
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools.profiles", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeats in fields:
            made = message.field.add(name=field, number=number, label=kinds.LABEL_REPEATED if repeats else kinds.LABEL_OPTIONAL)
            made.type = kinds.TYPE_MESSAGE if kind in MESSAGES else getattr(kinds, f"TYPE_{kind.upper()}")
            if kind in MESSAGES:
                made.type_name = f".perftools.profiles.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.profiles.Profile"))


def check(this):
    trace = trace_of(this)
    out, printed = export(this, trace, "pprof", "trace.pb.gz")
    every_row_is_told_of(this, trace, printed)
    content = gzip.decompress(out.read_bytes())
    profile = profile_class().FromString(content)
    known = type(profile).FromString(content)
    known.DiscardUnknownFields()
    this.equal("size without unknown fields", known.ByteSize(), profile.ByteSize())
    texts = profile.string_table
    this.equal("first text", texts[0], "")
    types = [texts[one.type] for one in profile.sample_type]
    sums = {name: sum(sample.value[i] for sample in profile.sample) for i, name in enumerate(types)}
    with_stack = {table: [row for row in rows_of(trace, table) if row["stack_id"]] for table in ("call", "alloc", "python_stack")}
    wanted = {
        "python_samples": sum(row["samples"] for row in with_stack["python_stack"]),
        "python_time": sum(row["period_ns"] for row in with_stack["python_stack"]),
        "calls": len(with_stack["call"]), "call_time": sum(row["dur"] for row in with_stack["call"]),
        "allocations": len(with_stack["alloc"]), "allocated": sum(row["size"] for row in with_stack["alloc"]),
    }
    this.equal("sums", {name: sums[name] for name in wanted}, wanted)
    this.true("there are samples of each kind", all(wanted.values()), wanted)
    functions = {one.id: texts[one.name] for one in profile.function}
    locations = {one.id: functions[one.line[0].function_id] for one in profile.location}
    frames = {row["frame_id"]: row["function"] or row["label"] for row in rows_of(trace, "frame")}
    stacks = {}
    for row in sorted(rows_of(trace, "stack"), key=lambda row: row["depth"]):
        stacks.setdefault(row["stack_id"], []).append(frames[row["frame_id"]])
    named = {tuple(locations[one] for one in sample.location_id) for sample in profile.sample}
    this.equal("stacks", named, {tuple(stacks[row["stack_id"]]) for rows in with_stack.values() for row in rows})


if __name__ == "__main__":
    case.run(check)
