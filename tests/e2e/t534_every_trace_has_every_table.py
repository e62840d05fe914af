# SPDX-License-Identifier: Apache-2.0
"""Every trace, recorded or imported, has all tables of TABLES.md with the documented columns and types; tables of streams that were off are
empty, in DuckDB and in mlrun."""

import duckdb
import pyarrow.parquet

from lib import case, documents, schemas
from lib.imported import imported

WITHOUT = ("block", "block_part", "wait", "vfs", "remote", "gpu_file", "torch_memory", "syscall", "syscall_bucket", "device", "sample_memory",
           "gpu_api", "gpu_kernel", "gpu_idle")
EVENTS = """[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"a"}]"""


def check_tables(this, trace, documented):
    tables = trace.folder / "tables"
    this.equal("tables (written, documented)", sorted(path.name for path in tables.iterdir()), sorted(documented))
    this.equal("run.json counts their files", trace.run["tables"], {path.name: len(list(path.iterdir())) for path in tables.iterdir()})
    for name, columns in documented.items():
        for path in (tables / name).iterdir():
            schemas.check(this, path, columns)
    for name in WITHOUT:
        this.equal(f"rows of {name}", duckdb.sql(f"SELECT count(*) FROM '{tables}/{name}/*.parquet'").fetchall(), [(0,)])
        this.equal(f"mlrun's rows of {name}", this.run(case.MLRUN, "show", trace.folder, name, "--json").stdout, "")
    size = sum(pyarrow.parquet.read_metadata(path).serialized_size for name in WITHOUT for path in (tables / name).iterdir())
    this.true("they take little room", size < 64 << 10, size)


def check(this):
    documented = documents.documented_tables()
    for options in ((), ("--summary-only",), ("--preload=allocs",), ("--sample=off", "--preload=marks")):
        trace = this.trace(this.victim("numbered"), this.data_file(), 10, "exit", options=options, status=7)
        check_tables(this, trace, documented)
    events = this.path("events.json")
    events.write_text(EVENTS, encoding="ascii")
    check_tables(this, imported(this, events), documented)


if __name__ == "__main__":
    case.run(check)
