#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the pages name is there: the target of each link, its heading too, and each path of a file of this repository that is written
as code. What README.md links to, and what a text of the programs names, is installed too. Usage: links.py SOURCE"""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Of what the setup makes (build, .venv) nothing can be asked.
CODE = re.compile(r"`((?:cupti|kprobes|preload|runner|tests)/[\w./-]*\w)`")
# In a text of the programs. Its lines are short, so the two parts are words of their own.
NAMED_IN_TEXT = re.compile(r"([\w./-]+\.md)\b( in PREFIX/share/doc/mlrun\b)?")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


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


def files_of(*endings):
    """Names below SOURCE. In a plain tree, which git knows nothing of, those of the project's own folders."""
    patterns = ["*" + ending for ending in endings]
    listed = subprocess.run(["git", "-C", str(SOURCE), "ls-files", *patterns], capture_output=True, text=True, check=False).stdout.split()
    return listed or [name for name in ("README.md",) if name.endswith(endings)] + [
        str(file.relative_to(SOURCE)) for folder in ("cupti", "kprobes", "preload", "runner", "tests") for pattern in patterns
        for file in (SOURCE / folder).rglob(pattern) if "node_modules" not in file.parts]


def faults_of_installed():
    listed = re.search(r"set\(MLRUN_INSTALLED_PAGES\s([^)]*)\)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf8"))[1].split()
    for target in LINK.findall((SOURCE / "README.md").read_text(encoding="utf8")):
        name = target.partition("#")[0]
        if name and "://" not in name and name not in listed:
            yield f"README.md: {name} is not in MLRUN_INSTALLED_PAGES of CMakeLists.txt"
    for file in files_of(".c", ".h", ".cpp"):
        if file.startswith("tests/"):
            continue
        code = re.sub(r'"\s*\n\s*"', "", (SOURCE / file).read_text(encoding="utf8"))
        for name, place in (found for text in STRING.findall(code) for found in NAMED_IN_TEXT.findall(text.replace("\\n", " "))):
            if not place or name not in listed:
                yield f"{file}: {name} is not called 'NAME in PREFIX/share/doc/mlrun', or not in MLRUN_INSTALLED_PAGES of CMakeLists.txt"


pages = [SOURCE / name for name in files_of(".md")]
found = [f"{page.relative_to(SOURCE)}: {fault} is not there" for page in pages for fault in faults(page)] + list(faults_of_installed())
print("\n".join(found) or f"{len(pages)} pages: what they name is there")
sys.exit(1 if found or not pages else 0)
