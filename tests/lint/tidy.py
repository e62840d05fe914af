# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ sources of the runner and of mlrun-probes.

Usage: tidy.py BUILD [--analyze] [--changed | FILE...]

BUILD is a folder that ninja has built: its compile commands say how a file is compiled, and its dependencies which
headers it sees. A file that passed is not looked at again, in any checkout of this machine, until it, a header that it
sees, its compile command, the configuration or clang-tidy changes: what passed is noted in $MLRUN_TIDY_CACHE
(~/.cache/mlrun-tidy). --changed: what differs from the commit before the last one, and at most MOST_BESIDE more that have not passed:
sources that include a header that differs, then those of earlier commits. A source takes about five seconds, and hundreds include some
headers; the rest is for a run without --changed. --analyze adds the path-sensitive checks of clang's analyzer, which take several times
as long and are no part of the tests.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

CONFIGURATION = ".clang-tidy"
TREES = ("runner", "kprobes")
MOST_BESIDE, EARLIER_COMMITS = 4, 20
OURS = ("runner/", "preload/", "cupti/", "kprobes/", CONFIGURATION)
ANALYZER = "clang-analyzer-*"
# Clang refuses headers that g++ has compiled before (each source names what it uses without them), and how g++ keeps its memory.
GCC_ALONE = re.compile(r" -Winvalid-pch -include \S+/cmake_pch\.hxx| -fpch-preprocess| --param=\S+")
# Debian's is several years older, and takes twice as long: it looks for findings in every header of the system.
CLANG_TIDY = str(pathlib.Path(sys.executable).with_name("clang-tidy"))


def git(*words):
    """Names of files, None where there is no git or no such commit."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None


def sources():
    """The .cpp files, also the new ones; from a plain tree where there is no git."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", "--", *(f"{tree}/*.cpp" for tree in TREES))
    if listed is None:
        listed = [str(path) for tree in TREES for path in pathlib.Path(tree).rglob("*.cpp")]
    return sorted(name for name in set(listed) if os.path.exists(name))


def changed():
    """The sources and headers that the last commit or the working tree has changed. Where the commit before the last is not at hand
    (a shallow clone), the working tree alone counts."""
    names = set()
    for words in (["diff", "--name-only", "HEAD~1"], ["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"]):
        names |= set(git(*words, "--", *(f"{tree}/*.{end}" for tree in TREES for end in ("cpp", "h"))) or ())
    return sorted(name for name in names if os.path.exists(name))


def beside(names):
    """The sources that include one of these headers, those of its folder first, and then those of earlier commits, the newest first."""
    wanted = [f'#include "{name}"' for name in names if name.endswith(".h")]
    folders = {os.path.dirname(name) for name in names}
    including = [source for source in sources() if any(line in pathlib.Path(source).read_text(encoding="utf-8") for line in wanted)]
    earlier = git("log", "--name-only", "--format=", f"-{EARLIER_COMMITS}", "--", *(f"{tree}/*.cpp" for tree in TREES)) or []
    found = sorted(including, key=lambda source: os.path.dirname(source) not in folders) + earlier
    return [source for source in dict.fromkeys(found) if source not in names and os.path.exists(source)]


def seen_by(build):
    """Source -> the files that its compilation read, as ninja has noted them; those below this folder relative to it."""
    root = os.getcwd() + "/"
    lines = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    seen = {}
    for block in lines.split("\n\n"):
        read = [os.path.normpath(os.path.join(build, line.strip())) for line in block.split("\n")[1:] if line.strip()]
        read = sorted(path.removeprefix(root) for path in read)
        for source in (path for path in read if path.endswith(".cpp")):
            seen[source] = read
    return seen


def database_of(build):
    """A folder with compile commands that name each source itself: a unity build's name only the file that includes ten of them, and
    clang-tidy would take the command of whatever file has a similar name."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    single = []
    for entry in entries:
        entry["command"] = GCC_ALONE.sub("", entry["command"])
        text = pathlib.Path(entry["file"]).read_text(encoding="utf-8") if "/Unity/" in entry["file"] else ""
        included = [line.split('"')[1] for line in text.splitlines() if line.startswith("#include")]
        single += [{**entry, "file": source, "command": entry["command"].replace(entry["file"], source)} for source in included] or [entry]
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)
    written = os.path.join(folder, f"compile_commands.json.{os.getpid()}")
    with open(written, "w", encoding="utf-8") as file:
        json.dump(single, file)
    os.replace(written, os.path.join(folder, "compile_commands.json"))
    return folder


def commands_of(build):
    """Source -> how it is compiled, without the places of this checkout and of the build."""
    root = os.getcwd() + "/"
    with open(os.path.join(database_of(build), "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    return {entry["file"].removeprefix(root): entry["command"].replace(os.path.abspath(build), "BUILD").replace(root, "")
            for entry in entries}


@functools.cache
def fingerprint(path):
    """Of a file of ours its contents; of others, which come with a package, the size. What is gone has none."""
    if not os.path.exists(path):
        return ""
    if path.startswith(OURS):
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    return str(os.stat(path).st_size)


def key_of(source, seen, command, options):
    key = hashlib.sha256("\0".join([tidy_version(), *options, command, fingerprint(CONFIGURATION)]).encode())
    for path in seen.get(source, [source]):
        key.update(f"{path}\0{fingerprint(path)}\0".encode())
    return f"{source} {key.hexdigest()[:32]}"


@functools.cache
def tidy_version():
    return subprocess.run([CLANG_TIDY, "--version"], capture_output=True, text=True, check=True).stdout


class Passed:
    """Keys of the files that passed, one a line. Several checkouts may add to it at a time; the oldest are dropped."""
    MOST = 20000

    def __init__(self):
        folder = pathlib.Path(os.environ.get("MLRUN_TIDY_CACHE") or pathlib.Path.home() / ".cache" / "mlrun-tidy")
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "passed"
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.keys = set(lines)
        if len(lines) > self.MOST:
            new = folder / f"passed.{os.getpid()}"
            new.write_text("".join(f"{line}\n" for line in lines[-self.MOST // 2:]))
            new.rename(self.path)

    def add(self, key):
        with self.path.open("a") as file:
            print(key, file=file)


def look_at(source, build, options):
    """What clang-tidy finds in a source, empty when nothing."""
    done = subprocess.run([CLANG_TIDY, "--quiet", "-p", os.path.join(build, "tidy"), *options, source], capture_output=True, text=True,
                          check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--analyze", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    differs = changed() if arguments.changed else []
    more = beside(differs) if arguments.changed else []
    chosen = arguments.files or ([name for name in differs if name.endswith(".cpp")] if arguments.changed else sources())
    # Options for gcc alone are no finding, nor is what gcc's own headers use of each other.
    options = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-deprecated-declarations"] + ([] if arguments.analyze else [f"--checks=-{ANALYZER}"])
    passed = Passed()
    seen, commands = seen_by(arguments.build), commands_of(arguments.build)
    keys = {source: key_of(source, seen, commands.get(source, ""), options) for source in (*chosen, *more)}
    todo = [source for source in chosen if keys[source] not in passed.keys]
    todo += [source for source in more if keys[source] not in passed.keys][:MOST_BESIDE]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, said in zip(todo, pool.map(lambda source: look_at(source, arguments.build, options), todo)):
            if said:
                bad += 1
                print(f"{source}:\n{said}", flush=True)
            else:
                passed.add(keys[source])
    had_passed = sum(key in passed.keys for key in keys.values())
    left = len(keys) - len(todo) - had_passed
    print(f"{len(todo)} files looked at, {had_passed} had passed before, {left} left for a run without --changed, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
