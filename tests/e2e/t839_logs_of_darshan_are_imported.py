# SPDX-License-Identifier: Apache-2.0
"""Logs of Darshan that its Python package carries: each segment of DXT is a call or a slice, each record of counters a row, as Darshan's own report has them.
Without the package, and for damaged logs, one line says what to do."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

from lib import case
from lib.imported import imported, refused


def truth(path):
    """Segments by module and direction, their bytes, and records of counters, by the package itself."""
    program = """if True:
        import json, sys
        from darshan.backend import cffi_backend as backend
        log, sums, records = backend.log_open(sys.argv[1]), {}, 0
        for module, about in sorted(backend.log_get_modules(log).items(), key=lambda item: item[1]["idx"]):
            while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
                records += not module.startswith("DXT")
                for key in ("read_segments", "write_segments"):
                    for one in record.get(key, ()):
                        count, size = sums.get(module + " " + key, (0, 0))
                        sums[module + " " + key] = count + 1, size + one["length"]
        print(json.dumps([sums, records]))"""
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def check(this):
    found = importlib.util.find_spec("darshan")
    if found is None:
        raise case.Skip("needs the Python package darshan")
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    logs = pathlib.Path(found.origin).parent / "tests" / "input"
    for name in ("sample-dxt-simple.darshan", "sample.darshan"):
        sums, records = truth(logs / name)
        trace = imported(this, logs / name)
        this.equal(f"events of {name}", trace.events(), records + sum(count for count, _ in sums.values()))
        for func, key in (("read", "DXT_POSIX read_segments"), ("write", "DXT_POSIX write_segments")):
            count, size = sums.get(key, (0, None))
            this.equal(f"{key} of {name}", trace.rows("call", "count(*), sum(ret)", f"WHERE func = '{func}'"), [(count, size)])
        mpiio = sum(count for key, (count, _) in sums.items() if key.startswith("DXT_MPIIO"))
        this.equal(f"slices of {name}", trace.count("slice"), mpiio)
        this.equal(f"the clock of {name}", trace.files[0]["clock"], "realtime")
    damaged = this.path("damaged.darshan")
    content = (logs / "sample-dxt-simple.darshan").read_bytes()
    damaged.write_bytes(content[:1500] + b"x" * 400 + content[1900:])
    refused(this, damaged, "cannot import")
    os.environ["PATH"] = "/usr/bin:/bin"
    if subprocess.run(["python3", "-c", "import darshan"], capture_output=True, check=False).returncode != 0:
        refused(this, logs / "sample-dxt-simple.darshan", "pip install darshan")


if __name__ == "__main__":
    case.run(check)
