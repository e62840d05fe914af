# SPDX-License-Identifier: Apache-2.0
"""Secrets in the environment and in arguments, mlrun's own and those of every process, are in no file of a trace and in
no output of mlrun; other values stay. The files with arguments, and raw events, which are not masked, are readable only
by their owner."""

import sys

from lib import case

VARIABLES = {"HTTPS_PROXY": "http://user:{}@proxy:3128", "DATABASE_URL": "postgres://u:{}@h/db", "MYSQL_PWD": "{}", "GITHUB_PAT": "{}",
             "SMTP_PASS": "{}", "AZURE_STORAGE_CONNECTION_STRING": "AccountName=x;AccountKey={}", "SETTINGS": '{{"api_key": "{}"}}'}
KEPT = {"TOKENIZERS_PARALLELISM": "false", "PYTHONHASHSEED": "5", "MAX_TOKENS": "7", "GIT_AUTHOR_NAME": "me", "PASSWORD_FILE": "/run/p"}
ARGUMENTS = ["--password={}", "--api-key", "{}", "--url=https://u:{}@h/x", "-H", "Authorization: Bearer {}", "DB_PASS={}", "u:{}@host",
             "--max-tokens", "5", "--tokenizer", "bpe"]
CHILD = "import subprocess, sys; subprocess.run(['true', *sys.argv[1:]])"


def secrets():
    number = 0
    while True:
        number += 1
        yield f"hunter{number}x"


def with_secret(text, source):
    return text.format(next(source)) if "{" in text else text


def readable(path, others=0o077):
    return path.stat().st_mode & others != 0


def check(this):
    source = secrets()
    variables = {name: with_secret(value, source) for name, value in VARIABLES.items()} | KEPT
    arguments = [with_secret(argument, source) for argument in ARGUMENTS]
    environment = this.environment | variables
    command = (sys.executable, "-c", CHILD, *arguments)
    options = ("--keep-environment", "MYSQL_PWD,NOT_THERE")
    out = this.new_trace()
    done = this.run(case.MLRUN, "--preload", "-o", out, *options, "--", *command, env=environment)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    printed = done.stderr + "".join(this.run(case.MLRUN, *words, env=environment).stdout for words in (
        ("report", out), ("report", "--json", out), ("list", this.folder), *(("show", out, table, *form) for table in ("process", "image")
                                                                               for form in ((), ("--csv",), ("--json",)))))
    stored = trace.run["environment"]
    this.equal("a variable that is kept", stored.pop("MYSQL_PWD"), variables["MYSQL_PWD"])
    this.equal("variables that are no secret", {name: stored[name] for name in KEPT}, KEPT)
    this.equal("the rest of an address", stored["HTTPS_PROXY"], "http://***:***@proxy:3128")
    texts = {"run.json": repr(stored) + repr(trace.run["command"]), "printed": printed}
    texts |= {table.name: repr(trace.rows(table.name)) for table in (out / "tables").iterdir()}
    this.equal("where secrets are", {name: text[max(text.find("hunter") - 60, 0):][:90] for name, text in texts.items() if "hunter" in text}, {})
    shown = [row["arguments"] for row in trace.rows("image") if row["arguments"].startswith("true ")]
    this.equal("arguments of the child", shown, ["true --password=*** --api-key *** --url=https://***:***@h/x -H Authorization: Bearer *** "
                                                 "DB_PASS=*** ***:***@host --max-tokens 5 --tokenizer bpe"])
    this.equal("files with arguments that others may read", [path.name for path in (
        out / "run.json", *(out / "tables" / "process").iterdir(), *(out / "tables" / "image").iterdir()) if readable(path)], [])
    raw = this.new_trace()
    this.run(*this.command(*command, out=raw, options=("--defer-merge",)), env=environment)
    this.true("session.json has no secret", "hunter" not in (raw / "session.json").read_text())
    this.equal("raw files that others may read", [path.name for path in raw.iterdir() if path.is_file() and readable(path)], [])
    bad = this.run(case.MLRUN, "--keep-environment", "A=b", "true")
    this.equal("a value in place of a name is refused", (bad.returncode, bad.stderr.count("\n")), (125, 1), said=bad.stderr)


if __name__ == "__main__":
    case.run(check)
