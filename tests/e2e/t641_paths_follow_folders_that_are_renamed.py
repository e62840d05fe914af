# SPDX-License-Identifier: Apache-2.0
"""When the working directory, the folder of a descriptor or one of its parents is renamed by this process or another,
files opened afterwards have the name that the kernel reports."""

from lib import case


def check(this):
    folder = this.path("w")
    folder.mkdir()
    trace = this.trace(this.victim("renamed_folders"), folder)
    names = trace.stdout.splitlines()
    this.equal("files by descriptor", [call.path for call in trace.calls_of("write") if call.path.startswith(str(folder))], names)
    this.equal("a stream's file", [call.path for call in trace.calls_of("fflush") if "/13" in call.path], [f"{folder}/AA/b/e/13"])


if __name__ == "__main__":
    case.run(check)
