# SPDX-License-Identifier: Apache-2.0
"""tar and zip archives of several traces, whole and cut; databases of Nsight Systems of old versions, without tables and columns, with odd values. What cannot
be read is one line."""

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile

from lib import case
from lib.imported import imported, refused

EVENT = b'{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"e"}'
TRACE = b"[" + EVENT + b"]"


def tar(this, name, files, mode="w", **more):
    path = this.path(name)
    with tarfile.open(path, mode, **more) as archive:
        for member, content in files.items():
            info = tarfile.TarInfo(member)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def check_archives(this):
    files = {"folder/rank0.pfw": TRACE, "rank1.pfw.gz": gzip.compress(TRACE), "n" * 150 + ".json": TRACE, "strace.log": b"7 1700000001.5 close(3) = 0 <0.1>\n"}
    json_files = {name: content for name, content in files.items() if name != "strace.log"}
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        trace = imported(this, tar(this, f"form{form}.tar.gz", json_files, "w:gz", format=form))
        this.equal("slices of an archive", trace.count("slice"), 3)
        this.equal("names", [file["file"].split("/", 1)[1].split(".tar.gz/")[1] for file in trace.files], list(json_files))
    archive = tar(this, "all.tar", files)
    refused(this, archive, "different clocks")
    this.equal("one of an archive", imported(this, this.path("all.tar") / "strace.log").count("call"), 1)
    refused(this, this.path("all.tar") / "absent", "the archive has no such file")
    refused(this, tar(this, "none.tar", {}), "no known format")
    cut = this.path("cut.tar")
    cut.write_bytes(tar(this, "whole.tar", {"a.json": TRACE, "b.json": b"[" + (EVENT + b",") * 200}).read_bytes()[:5000])
    trace = imported(this, cut)
    this.true("a cut archive", any("the file is cut off" in remark for remark in trace.files[1]["remarks"]), trace.files)
    damaged = bytearray(archive.read_bytes())
    damaged[1024 + 100] ^= 1
    this.path("damaged.tar").write_bytes(damaged)
    refused(this, this.path("damaged.tar"), "damaged header", "byte 1024")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(this.path("two.zip"), "w", method) as packed:
            packed.writestr("a.json", TRACE)
            packed.writestr("b.json.gz", gzip.compress(TRACE))
        this.equal("slices of a zip archive", imported(this, this.path("two.zip")).count("slice"), 2)
    refused(this, tar(this, "base.tar", {"x.sqlite": b"SQLite format 3\0" + b"x" * 5000}), "unpack it")
    rest = this.path("rest.json.gz")
    rest.write_bytes(gzip.compress(TRACE) + b"\0" * 600)
    this.equal("padding behind a gzip file", imported(this, rest).count("slice"), 1)
    rest.write_bytes(gzip.compress(TRACE) + b"more")
    refused(this, rest, "bytes after the compressed data")
    this.path("a.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"x" * 50)
    refused(this, this.path("a.zst"), "zstd")


def base(this, name, statements):
    path = this.path(name)
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    return path


STRINGS = ("CREATE TABLE StringIds (id INTEGER, value TEXT)", "INSERT INTO StringIds VALUES (1, 'kernel<int>'), (2, 'kernel'), (3, 'module')")


def check_databases(this):
    old = base(this, "old.sqlite", [*STRINGS, "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER)",
                                    "INSERT INTO NVTX_EVENTS VALUES (5, 9, 59, 'step', 0x1000064000064)",
                                    "CREATE TABLE TARGET_INFO_GPU (name TEXT)", "INSERT INTO TARGET_INFO_GPU VALUES ('GPU')",
                                    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcTime TEXT)", "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ('x')"])
    trace = imported(this, old)
    this.equal("a range of an old version", trace.rows("mark", "name, dur", f"JOIN '{trace.folder}/tables/name/*.parquet' USING (name_id)"), [("step", 4)])
    kernels = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, shortName INTEGER, mangledName INTEGER, correlationId INTEGER)"
    odd = base(this, "odd.sqlite", [*STRINGS, kernels, f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 5, 0, 2, 3, 7), (NULL, 5, 0, 2, 3, 7), ({2**62}, {2**63 - 1}, 0, 2, 3, 7)",
                                    "CREATE TABLE OSRT_CALLCHAINS (id INTEGER, symbol INTEGER)", "INSERT INTO OSRT_CALLCHAINS VALUES (1, 1), (1, 2)",
                                    "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)", "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '2.4.1')"])
    trace = imported(this, odd)
    this.equal("kernels", trace.rows("gpu_kernel", "ts, dur, name", f"JOIN '{trace.folder}/tables/name/*.parquet' USING (name_id)"), [(1, 4, "kernel")])
    this.equal("texts by their numbers", [json.loads(args) for args, in trace.rows("import_event", "args")], [{"mangledName": "module"}])
    this.equal("left out", trace.left_out(), {"no time, or one out of range": 2})
    this.true("a table that is not read", "a row of a table without times, not read: OSRT_CALLCHAINS" in trace.files[0]["remarks"], trace.files[0]["remarks"])
    newer = base(this, "new.sqlite", [*STRINGS, "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)",
                                      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '4.0.0')"])
    refused(this, newer, "EXPORT_SCHEMA_VERSION", "4.0.0")
    refused(this, base(this, "other.sqlite", ["CREATE TABLE t (start INTEGER)", "INSERT INTO t VALUES (1)"]), "not an export of Nsight Systems")


def check(this):
    check_archives(this)
    check_databases(this)


if __name__ == "__main__":
    case.run(check)
