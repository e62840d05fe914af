# SPDX-License-Identifier: Apache-2.0
"""What the harness reads from mlrun's trace folders: rows of a table, sums of a column, records lost."""

import pyarrow.compute
import pyarrow.parquet


def files_of(trace, table):
    return sorted((trace / "tables" / table).glob("*.parquet"))


def rows(trace, table):
    return sum(pyarrow.parquet.read_metadata(file).num_rows for file in files_of(trace, table))


def total(trace, table, column):
    sums = (
        pyarrow.compute.sum(pyarrow.parquet.read_table(file, columns=[column])[column]).as_py()
        for file in files_of(trace, table)
    )
    return sum(value or 0 for value in sums)


def lost_records(trace):
    lost = 0
    for file in files_of(trace, "loss"):
        table = pyarrow.parquet.read_table(file, columns=["count", "unit"])
        lost += sum(row["count"] for row in table.to_pylist() if row["unit"] == "records")
    return lost
