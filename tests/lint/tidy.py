# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ sources of the runner.

Usage: tidy.py BUILD [--analyze] [FILE]...

BUILD is a folder that ninja has built: its compile commands say how a file is compiled, and its dependencies which
headers it sees. A file that passed is not looked at again until it, a header of ours that it sees or the configuration
changes. --analyze adds the path-sensitive checks of clang's analyzer, which take several times as long and are no part
of the tests.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys

CONFIGURATION = ".clang-tidy"
ANALYZER = "clang-analyzer-*"
# Debian's is several years older, and takes twice as long: it looks for findings in every header of the system.
CLANG_TIDY = str(pathlib.Path(sys.executable).with_name("clang-tidy"))


def sources():
    """The runner's .cpp files, also the new ones; from a plain tree where there is no git."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "runner/*.cpp"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return sorted(set(listed.stdout.split()))
    return sorted(str(path) for path in pathlib.Path("runner").rglob("*.cpp"))


def seen_by(build):
    """Source -> the files of this project that its compilation read, as ninja has noted them."""
    root = os.getcwd() + "/"
    lines = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    seen = {}
    for block in lines.split("\n\n"):
        read = [os.path.normpath(os.path.join(build, line.strip())) for line in block.split("\n")[1:] if line.strip()]
        ours = [path.removeprefix(root) for path in read if not os.path.isabs(path) or path.startswith(root)]
        ours = [path for path in ours if path.startswith(("runner/", "preload/", "cupti/", "kprobes/"))]
        for source in (path for path in ours if path.endswith(".cpp")):
            seen[source] = sorted(ours)
    return seen


def key_of(source, seen, options):
    key = hashlib.sha256(" ".join(options).encode())
    for path in (CONFIGURATION, source, *seen.get(source, ())):
        key.update(pathlib.Path(path).read_bytes())
    return f"{source} {key.hexdigest()[:32]}"


def look_at(source, build, options):
    """What clang-tidy finds in a source, empty when nothing."""
    done = subprocess.run([CLANG_TIDY, "--quiet", "-p", build, *options, source], capture_output=True, text=True,
                          check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--analyze", action="store_true")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    # Options for gcc alone are no finding, nor is what gcc's own headers use of each other.
    options = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-deprecated-declarations"] + ([] if arguments.analyze else [f"--checks=-{ANALYZER}"])
    noted = pathlib.Path(arguments.build, "tidy.passed")
    passed = set(noted.read_text().splitlines()) if noted.exists() else set()
    seen = seen_by(arguments.build)
    keys = {source: key_of(source, seen, options) for source in arguments.files or sources()}
    todo = [source for source, key in keys.items() if key not in passed]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, noted.open("a") as note:
        for source, said in zip(todo, pool.map(lambda source: look_at(source, arguments.build, options), todo)):
            if said:
                bad += 1
                print(f"{source}:\n{said}", flush=True)
            else:
                print(keys[source], file=note, flush=True)
    print(f"{len(todo)} files looked at, {len(keys) - len(todo)} had passed before, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
