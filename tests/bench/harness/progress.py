# SPDX-License-Identifier: Apache-2.0
"""What the benchmark is doing, on standard error: one changing line on a terminal, and a line for each row."""

import sys
import time


class Progress:
    def __init__(self):
        self.planned = 0
        self.begun = 0
        self.begin_s = time.monotonic()
        self.is_terminal = sys.stderr.isatty()

    def plan(self, steps):
        self.planned = steps
        self.begin_s = time.monotonic()

    def step(self, what):
        """One pair begins."""
        if self.is_terminal:
            left_s = (
                (time.monotonic() - self.begin_s) / self.begun * (self.planned - self.begun) if self.begun > 3 else 0
            )
            left = f", about {left_s / 60:.0f} min left" if left_s > 60 else ""
            self.show(f"[{self.begun + 1}/{self.planned}] {what}{left}")
        self.begun += 1

    def finished(self, *lines):
        self.show("")
        for cells in lines:
            print("  ".join(cell for cell in cells if cell), file=sys.stderr, flush=True)

    def end(self):
        self.show("")

    def show(self, text):
        if self.is_terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
