# SPDX-License-Identifier: Apache-2.0
"""Shared by the end-to-end cases. It uses no code of mlrun: traces are read as any user would read them."""
