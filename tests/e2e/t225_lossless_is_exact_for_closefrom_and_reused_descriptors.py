# SPDX-License-Identifier: Apache-2.0
"""With --lossless --alloc-min 0, the trace has all calls before and after closefrom(3), under the file's name both
times."""

from lib import case, issued

if __name__ == "__main__":
    case.run(lambda this: issued.expect_lossless(this, "issues_closefrom", 20000))
