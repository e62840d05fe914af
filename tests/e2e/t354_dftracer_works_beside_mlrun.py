# SPDX-License-Identifier: Apache-2.0
"""With DFTracer's preload library, the program's result is as untraced and both tracers see its reads."""

import gzip
import importlib.util
import os
from pathlib import Path

from lib import case

CALLS = 500


def library():
    found = importlib.util.find_spec("dftracer")
    for folder in found.submodule_search_locations if found else ():
        for path in sorted(Path(folder).rglob("libdftracer_preload.so")):
            return str(path)
    raise case.Skip("needs DFTracer (tests/setup/install.sh bench)")


def what_it_wrote(folder):
    texts = [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
             for path in folder.glob("dft*") if path.is_file()]
    return b"".join(texts).decode(errors="replace")


def check(this):
    preload, data, logs = library(), this.data_file(), this.path("logs")
    logs.mkdir()
    more = {"env": this.environment | {"LD_PRELOAD": preload, "DFTRACER_ENABLE": "1", "DFTRACER_INIT": "PRELOAD", "DFTRACER_INC_METADATA": "1",
                                       "DFTRACER_LOG_FILE": str(logs / "dft"), "DFTRACER_DATA_DIR": "all"}}
    command = (this.victim("numbered"), data, CALLS, "exit")
    plain = this.run(*command, **more)
    this.equal("exit status beside DFTracer alone", plain.returncode, 7, said=plain.stderr)
    for path in logs.iterdir():
        path.unlink()
    trace = this.trace(*command, status=7, **more)
    this.equal("output", trace.stdout, plain.stdout)
    this.equal("our calls", len(trace.calls_of("pread", path=data)), CALLS)
    this.true("DFTracer's calls", what_it_wrote(logs).count('"pread') >= CALLS, os.listdir(logs))


if __name__ == "__main__":
    case.run(check)
