#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the pages name is there: the target of each link, its heading too, and each path of a file of this repository that is written
as code. Usage: links.py SOURCE"""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Of what the setup makes (build, .venv) nothing can be asked.
CODE = re.compile(r"`((?:cupti|kprobes|preload|runner|tests)/[\w./-]*\w)`")


def anchors_of(page):
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(encoding="utf8"), flags=re.DOTALL | re.MULTILINE),
                          re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_there(path):
    """Parts may be left open: `tests/e2e/t911` is the file that begins so, `kernel_merge` one without its ending."""
    return path.exists() or any(path.parent.glob(path.name + "[._]*"))


def faults(page):
    text = page.read_text(encoding="utf8")
    for target in LINK.findall(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            yield f"link to {target}"
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
            yield f"link to the heading {target}"
    for name in CODE.findall(text):
        if not any(is_there(folder / name) for folder in (SOURCE, page.parent)):
            yield f"file {name}"


listed = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "*.md"], capture_output=True, text=True, check=False).stdout.split()
# In a plain tree, which git knows nothing of, those of the project's own folders.
pages = [SOURCE / name for name in listed] or [SOURCE / "README.md", *(
    page for folder in ("cupti", "kprobes", "preload", "runner", "tests") for page in (SOURCE / folder).rglob("*.md")
    if "node_modules" not in page.parts)]
found = [f"{page.relative_to(SOURCE)}: {fault} is not there" for page in pages for fault in faults(page)]
print("\n".join(found) or f"{len(pages)} pages: what they name is there")
sys.exit(1 if found or not pages else 0)
