# SPDX-License-Identifier: Apache-2.0
"""The commands that README.md shows with their output are run on a small program, in its order: the headings and column titles of what it
quotes are in what mlrun prints, in that order. README.md names every option of `run`."""

import re
import shlex

from lib import case, documents, pythons

README = case.SOURCE / "README.md"
HEADING = re.compile(r"[A-Z][A-Z/]+(?: [A-Z/]+)*(?=\s|,|$)")
# A main process that takes what two workers send, which read one file again and again.
TRAIN = """
import multiprocessing, time

def load(results):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        with open("data/shard.bin", "rb") as file:
            file.read()
        results.send(0)
    results.send(None)

if __name__ == "__main__":
    pairs = [multiprocessing.Pipe() for _ in range(2)]
    workers = [multiprocessing.Process(target=load, args=(there,)) for _, there in pairs]
    for worker in workers:
        worker.start()
    for here, _ in pairs:
        while here.recv() is not None:
            pass
    for worker in workers:
        worker.join()
"""


def shape(line):
    """Heading and column titles of a line; None: it has neither. Figures are no titles."""
    line = re.sub(r" \([\d,]+\)", "", line.strip())
    found = HEADING.match(line)
    cells = [cell for cell in re.split(r"\s{2,}", line[found.end():] if found else line) if cell.strip()]
    titles = [] if any(re.search(r"\d", cell) for cell in cells) else [cell.strip() for cell in cells]
    if found:
        return found[0], tuple(titles)
    return ("", tuple(titles)) if len(titles) >= 4 else None


def shown(this):
    """(command, quoted lines) of the console blocks."""
    blocks = [block.splitlines() for block in documents.fenced(README, "console")]
    this.true("README.md shows commands with output", len(blocks) >= 2, blocks)
    for command, *lines in blocks:
        this.true("a block begins with a command", command.startswith("$ mlrun "), command)
        yield command.removeprefix("$ "), lines


def check_options(this):
    text = README.read_text(encoding="utf-8")
    body = this.run(case.MLRUN, "run", "--help").stdout.partition("\nExamples:")[0]
    options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", body, re.MULTILINE)
    this.true("run has options", len(options) >= 30, options)
    this.equal("options that README.md does not name", [
        name for name in options if name != "--help" and not re.search(rf"`{name}(?![\w-])", text)], [])


def check(this):
    check_options(this)
    known = pythons.known()
    if not known:
        raise case.Skip("needs CPython 3.11 to 3.15, whose stacks can be read")
    python = known[max(known)]
    this.path("train.py").write_text(TRAIN, encoding="utf-8")
    this.path("data").mkdir()
    this.path("data/shard.bin").write_bytes(bytes(8 << 20))
    for command, lines in shown(this):
        words = [{"mlrun": str(case.MLRUN), "python": python}.get(word, word) for word in shlex.split(command)]
        done = this.run(*words)
        this.equal(f"{command}: exit status", done.returncode, 0, said=done.stderr)
        said = done.stdout + done.stderr
        real = iter([found for line in said.splitlines() if (found := shape(line))])
        quoted = [found for line in lines if (found := shape(line))]
        this.true(f"{command}: headings are quoted", quoted, lines)
        for wanted in quoted:
            this.true(f"{command}: {wanted} is printed behind what README.md quotes before it", wanted in real, said)


if __name__ == "__main__":
    case.run(check)
