# SPDX-License-Identifier: Apache-2.0
"""Each key that a run stores in session.json is in the row of its object in runner/launch/README.md, and each documented key and stream of
`options` is stored."""

import json
import re

from lib import case, documents

PAGE = case.SOURCE / "runner" / "launch" / "README.md"
# Explained elsewhere, or named by what they hold.
OTHERS_KEYS = ("environment", "program_file", "cost", "failures", "without_channel", "io")
ON_SOME_MACHINES = {"gpu", "block", "wait", "vfs", "syscalls", "cuda", "cufile", "torch"}
OPTIONS = ("--access", "--sample=gpu,threads,machine,cpu,disk,net,memory,process", "--stacks", "--defer-merge")


def names(text):
    return set(re.findall(r"`(\w+)`", text))


def documented():
    """{key of session.json: names in its row}, and the rows of its own table for an object that has one."""
    main, *own = re.split(r"^### (\w+)$", PAGE.read_text(encoding="utf8").partition("\n## session.json\n")[2], flags=re.MULTILINE)
    page = {key: names(text) for keys, text in documents.table_rows(main) for key in names(keys)}
    tables = dict(zip(own[::2], map(documents.table_rows, own[1::2]), strict=True))
    return page | {title: set().union(*(names(cell) for row in rows for cell in row)) for title, rows in tables.items()}, tables


def keys_in(value):
    if isinstance(value, list):
        return set().union(*map(keys_in, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys_in(member) for key, member in value.items() if key not in OTHERS_KEYS))


def check(this):
    out = this.new_trace()
    done = this.run(*this.command(this.victim("numbered"), this.data_file(), 10, "exit", out=out, options=OPTIONS))
    this.equal("exit status", done.returncode, 7, said=done.stderr)
    session = json.loads((out / "session.json").read_text(encoding="utf8"))
    page, tables = documented()
    this.equal("keys that are not on the page", sorted(set(session) - set(page)), [])
    for key, value in session.items():
        if key not in OTHERS_KEYS:
            this.equal(f"keys of {key} that are not on the page", sorted(keys_in(value) - page[key]), [])
    listed = {key: names(text) for keys, text in tables["options"] for key in names(keys)}
    this.equal("options that the page has and no run", sorted(set(listed) - set(session["options"])), [])
    this.equal("options that the page has no row of", sorted(set(session["options"]) - set(listed)), [])
    written = set(session["options"]["streams"])
    this.equal("streams that the page lacks", sorted(written - listed["streams"]), [])
    this.equal("streams that the page has and no run", sorted(listed["streams"] - written - ON_SOME_MACHINES), [])


if __name__ == "__main__":
    case.run(check)
