# SPDX-License-Identifier: Apache-2.0
"""What the project's documents promise: the verbs of `mlrun --help`, the columns of TABLES.md, and the queries in the pages."""

import re

from lib import case

TABLES = case.SOURCE / "runner" / "trace" / "TABLES.md"
EVENT_TABLES = ("call", "alloc", "alloc_small")
COMMON = "Columns of every event table"
OF_GPU, ON_DEVICE = "Columns of every table of GPU work", "Columns of GPU work on a device"
IMPORTED_TABLES = ("slice", "flow", "counter", "stack_sample", "import_event")
KERNEL_EVENT_TABLES = ("block_part", "wait", "vfs", "remote", "gpu_file", "torch_memory")
SHARED = dict.fromkeys((*EVENT_TABLES, *KERNEL_EVENT_TABLES, *IMPORTED_TABLES), (COMMON,)) | {
    "gpu_api": (COMMON, OF_GPU), "gpu_sync": (COMMON, OF_GPU), "gpu_memory": (COMMON, OF_GPU), "gpu_graph": (COMMON, OF_GPU),
    **dict.fromkeys(("gpu_kernel", "gpu_memcpy", "gpu_memset"), (COMMON, OF_GPU, ON_DEVICE))}


def verbs(this):
    """Names in the section "Verbs:" of `mlrun --help`; a line that continues one is indented further."""
    text = this.run(case.MLRUN, "--help").stdout.partition("\nVerbs:\n")[2].partition("\n\n")[0]
    found = re.findall(r"^  (\w+)", text, re.MULTILINE)
    this.true("verbs", {"run", "mcp"} <= set(found), text)
    return found


def sections(text):
    """Text under each heading of the second level."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table_rows(section):
    """Cells of the Markdown tables' rows, without heads."""
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if not set(row[0]) <= set("-: ")]


def column_types(section):
    """Column name: first word of its type."""
    found = {}
    for names, types, *_ in table_rows(section):
        words = re.findall(r"`(\w+)`", names)
        kinds = re.findall(r"(?:^|, *)(int32|int64|double|text|bytes|boolean)", types)  # "int64 bytes" is one
        for number, name in enumerate(words):
            found[name] = kinds[min(number, len(kinds) - 1)]
    return found


def summary_columns(cell, totals):
    """Names of a cell like `func, calls (all of them), TOTALS of calls on files`."""
    names = []
    for item in re.sub(r"\([^)]*\)", "", cell).split(","):
        name = item.split()[0]
        names += [name.removesuffix("TOTALS") + total for total in totals] if name.endswith("TOTALS") else [name]
    return names


def documented_tables():
    """Table: {column: type, or None where the page does not say}."""
    parts = sections(TABLES.read_text(encoding="utf-8"))
    tables = {}
    for title, section in parts.items():
        if re.fullmatch(r"[a-z_]+", title):
            tables[title] = {}
            for shared in SHARED.get(title, ()):
                tables[title] |= column_types(parts[shared])
            tables[title] |= column_types(section)
    summary = parts["Summary tables"]
    totals = re.search(r"TOTALS are its Totals: `([^`]+)`", summary).group(1).replace("\n", " ").split(", ")
    for name, _, columns in table_rows(summary)[1:]:
        tables[name.strip("`")] = dict.fromkeys(summary_columns(columns, totals))
    return tables


def fenced(path, language):
    """Contents of the fenced blocks of a language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
