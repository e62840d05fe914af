# SPDX-License-Identifier: Apache-2.0
"""exec() replaces the image: every numbered call made before it is in the trace."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "exec", status=7))
