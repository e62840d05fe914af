# SPDX-License-Identifier: Apache-2.0
"""Shared by the end-to-end cases. It uses no code of mlrun: traces are read as any user would read them."""

import importlib
import sys


# PyArrow imports NumPy, which takes longer than all else that most cases import, and works without it. A case that needs both imports NumPy before lib.
def import_pyarrow():
    hides_numpy = sys.modules.setdefault("numpy", None) is None
    importlib.import_module("pyarrow.parquet")
    if hides_numpy:
        del sys.modules["numpy"]


import_pyarrow()
