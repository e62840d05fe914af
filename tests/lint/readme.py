#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md fits on a few screens: at most 2,000 words, no line over 300 characters. Each recipe of CONTRIBUTING.md names files that are
there, a test, and a commit of this repository that touched two fifths of these files by their names, or says that none shows all of it."""

import re
import subprocess
import sys
from pathlib import Path

from floors import alternatives

MAX_WORDS, MAX_LINE = 2000, 300
TOPS = "cupti|kprobes|preload|runner|tests"
FILE = re.compile(rf"`((?:{TOPS})/[^`\s]+)`")
LEAST_SHARE = 0.4
NO_EXAMPLE = "No commit shows all of it"
COMMIT = re.compile(r"`([0-9a-f]{7,40})`")
PLACEHOLDER = re.compile(r"/VERB\b")


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=False)


def has_history():
    """A shallow clone lacks most commits, and a plain tree all of them."""
    done = git("rev-parse", "--is-shallow-repository", "--show-prefix")
    return done.returncode == 0 and done.stdout.split() == ["false"]


def faults_of_readme():
    text = Path("README.md").read_text(encoding="utf-8")
    words = len(text.split())
    if words > MAX_WORDS:
        yield f"README.md: {words} words (at most {MAX_WORDS})"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_LINE:
            yield f"README.md:{number}: {len(line)} characters (at most {MAX_LINE})"


def recipes():
    section = Path("CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Recipes\n")[2].partition("\n## ")[0]
    parts = re.split(r"^### (.+)$", section, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def share_touched(commit, names):
    """Of the files `names`. Folders have been divided since, so only the last part of a path counts."""
    touched = {Path(line).name for line in git("show", "--format=", "--name-only", "--no-renames", commit).stdout.splitlines()}
    last_parts = {Path(name).name for name in names if "*" not in name and Path(name).suffix}
    return len(last_parts & touched) / max(1, len(last_parts))


def faults_of_recipe(text, knows_commits):
    names = [name for pattern in FILE.findall(text) if not PLACEHOLDER.search(pattern) for name in alternatives(pattern)]
    for name in names:
        if not any(Path().glob(name)):
            yield f"file {name} is not there"
    if not any(name.startswith("tests/") for name in names):
        yield "names no test"
    commits = COMMIT.findall(text)
    if not commits:
        yield "cites no commit"
    if not knows_commits:
        return
    for commit in commits:
        if git("cat-file", "-e", commit + "^{commit}").returncode != 0:
            yield f"commit {commit} is not in this repository"
    if commits and NO_EXAMPLE not in text and max(share_touched(commit, names) for commit in commits) < LEAST_SHARE:
        yield f"no commit that it cites touched {LEAST_SHARE:.0%} of its files: cite one that does, or write '{NO_EXAMPLE}'"


def main():
    found = list(faults_of_readme())
    all_recipes, knows_commits = recipes(), has_history()
    found += [f"CONTRIBUTING.md: {title}: {fault}" for title, text in all_recipes for fault in faults_of_recipe(text, knows_commits)]
    if not all_recipes:
        found.append("CONTRIBUTING.md has no recipes")
    print("\n".join(found) or f"README.md is short enough; {len(all_recipes)} recipes name what is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
