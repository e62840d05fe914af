# SPDX-License-Identifier: Apache-2.0
"""Every trace has all tables of TABLES.md with the documented columns and types; tables of streams that were off are
empty, in DuckDB and in mlrun."""

import duckdb
import pyarrow.parquet

from lib import case, documents, schemas

WITHOUT = ("block", "block_part", "wait", "vfs", "remote", "gpu_file", "torch_memory", "syscall", "syscall_bucket", "device", "sample_memory",
           "gpu_api", "gpu_kernel", "gpu_idle")


def check(this):
    documented = documents.documented_tables()
    for options in ((), ("--summary-only",), ("--preload=allocs",), ("--sample=off", "--preload=marks")):
        trace = this.trace(this.victim("numbered"), this.data_file(), 10, "exit", options=options, status=7)
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


if __name__ == "__main__":
    case.run(check)
