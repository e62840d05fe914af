# SPDX-License-Identifier: Apache-2.0
"""As t863, with 40,000 collectives."""

from lib import case
from t863_twenty_million_collectives_are_compared_in_bounded_memory import check

if __name__ == "__main__":
    case.run(lambda this: check(this, 40_000))
