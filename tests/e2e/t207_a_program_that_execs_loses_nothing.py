# SPDX-License-Identifier: Apache-2.0
"""The trace has every numbered call made before exec() replaces the image."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "exec", status=7))
