# SPDX-License-Identifier: Apache-2.0
"""Compares a Parquet file with the columns and types of TABLES.md."""

import pyarrow.parquet

TYPES = {"int32": ("int32",), "int64": ("int64",), "text": ("string", "dictionary<values=string, indices=int32, ordered=0>"),
         "bytes": ("binary",), "double": ("double",), "boolean": ("bool",)}


def check(this, path, columns):
    schema = pyarrow.parquet.read_schema(path)
    this.equal(f"columns of {path.parent.name} (written, documented)", sorted(schema.names), sorted(columns))
    for field in schema:
        if columns[field.name]:
            this.true(f"{path.parent.name}.{field.name} is {columns[field.name]}",
                      str(field.type) in TYPES[columns[field.name]], field.type)
