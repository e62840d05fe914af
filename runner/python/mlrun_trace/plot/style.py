# SPDX-License-Identifier: Apache-2.0
"""How pictures look. Readers with colour blindness can distinguish the colours, also in grey (Okabe and Ito's palette)."""

from __future__ import annotations

import functools
from typing import Any, Callable

from mlrun_trace.errors import need

WIDTHS_INCHES = {1: 3.5, 2: 7.16}  # of the columns of a paper
BLUE, ORANGE, GREEN, PURPLE, RED, SKY, YELLOW, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#999999"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GREY, YELLOW)


def settings(dark: bool) -> dict[str, Any]:
    """Settings of matplotlib for one picture."""
    ink, paper = ("#e8e8e8", "#161616") if dark else ("#202020", "white")
    return {
        "figure.facecolor": paper, "axes.facecolor": paper, "savefig.facecolor": paper,
        "text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": ink, "xtick.color": ink, "ytick.color": ink,
        "font.family": FONT, "font.size": 7, "axes.titlesize": 7, "axes.labelsize": 7, "legend.fontsize": 6,
        "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.5, "lines.linewidth": 0.9,
        "xtick.major.width": 0.5, "ytick.major.width": 0.5, "legend.frameon": False,
        "pdf.fonttype": 42, "svg.fonttype": "path",  # fonts are embedded in the file
        "text.parse_math": False,  # a $ in a name is an ordinary character
        "figure.dpi": 100, "savefig.dpi": 300, "axes.unicode_minus": False, "agg.path.chunksize": 10000,
    }


FONT = "DejaVu Sans"  # comes with matplotlib


@functools.cache
def letters() -> frozenset[int]:
    """The characters that the font has."""
    path = need("matplotlib.font_manager").findfont(FONT)
    return frozenset(need("matplotlib.ft2font").FT2Font(path).get_charmap())


def escaped(c: str) -> str:
    """A character that the font lacks, as Python escapes it, so that different names look different."""
    return f"\\x{ord(c):02x}" if ord(c) < 0x100 else c.encode("ascii", "backslashreplace").decode()


def plain(text: object, width: int = 60) -> str:
    """A name of the program as text on one line, cut in the middle."""
    shown = "".join(c if c.isprintable() and ord(c) in letters() else escaped(c) for c in str(text))
    if len(shown) <= width:
        return shown
    half = (width - 1) // 2
    return shown[:half] + "…" + shown[-(width - 1 - half):]


def rounded(value: float) -> str:
    """Rounds to three digits, but keeps all digits before the point."""
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def short_time(ns: float) -> str:
    """1 ns, 10 µs, 100 ms: for ticks."""
    if ns == 0:
        return "0"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{rounded(ns / size)} {unit}"
    return f"{rounded(ns)} ns"


def short_size(size: float) -> str:
    """1, 1 Ki, 64 Ki, 1 Mi: bytes, for ticks."""
    for unit, one in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if size >= one:
            return f"{rounded(size / one)} {unit}"
    return rounded(size)


def short_count(count: float) -> str:
    """1, 100, 10k, 1M: for ticks."""
    for unit, one in (("M", 1e6), ("k", 1e3)):
        if count >= one:
            return f"{count / one:g}{unit}"
    return f"{count:g}"


def log_ticks(axis: Any, base: float, text: Callable[[float], str], most: int = 4) -> None:
    """Plain texts at powers of `base` on a logarithmic axis: matplotlib's own texts need mathematics, which names may not have."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(base=base, numticks=most))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(NullFormatter())


def seconds_label() -> str:
    return "time since the start of the command (s)"
