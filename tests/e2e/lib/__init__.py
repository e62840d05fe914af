# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end cases share. Nothing in here is code of mlrun: traces are read as any reader would read them."""
