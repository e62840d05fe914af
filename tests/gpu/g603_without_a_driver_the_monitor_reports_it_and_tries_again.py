# SPDX-License-Identifier: Apache-2.0
"""Without a driver mlrun monitor prints one line and exits with 125. While it serves metrics it keeps running: /healthz
and a metric say why there is no data, and a driver that appears later is used. With a driver that hangs, it reports
that, and the GPUs' values are missing rather than stale."""

import os
import time

from gpu_case import fake_driver, need_no_driver
from lib import case
from monitor_case import monitor, value

FOREVER_MS = 1_000_000_000


def check_alone(this):
    broken = fake_driver(this, 580, INIT=9)
    no_gpu = fake_driver(this, 580, GPUS=0)
    for environment, reason in ((this.environment, "libnvidia-ml.so.1 cannot be loaded"), (broken, "Driver Not Loaded"),
                                (no_gpu, "knows no GPU")):
        done = this.run(case.MLRUN, "monitor", env=environment)
        this.equal("exit status", done.returncode, 125, said=done.stderr)
        this.true("one line", done.stderr.count("\n") == 1 and reason in done.stderr, done.stderr)
        this.equal("shown", done.stdout, "")


def check_comes_later(this):
    folder = this.path("driver")
    folder.mkdir()
    environment = dict(fake_driver(this, 580)) | {"LD_LIBRARY_PATH": str(folder)}
    with monitor(this, "--quiet", "--interval=200ms", environment=environment) as running:
        running.wait_for("the reason is said", lambda: "cannot be loaded" in running.said())
        status, _, text = running.get("/healthz")
        this.equal("health without a driver", status, 503)
        this.true("and the reason", "libnvidia-ml.so.1 cannot be loaded" in text, text)
        families = running.families()
        this.equal("driver up", value(families, "mlrun_monitor_driver_up"), 0)
        this.equal("GPUs", [name for name in families if name.startswith("mlrun_gpu")], [])
        os.symlink(case.BUILD / "gpu" / "nvml-580" / "libnvidia-ml.so.1", folder / "libnvidia-ml.so.1")
        running.wait_until_sampled()
        this.equal("driver up", value(running.families(), "mlrun_monitor_driver_up"), 1)
        this.equal("lines said", len(running.said().splitlines()), 3, said=running.said())


def check_starts_slowly(this):
    """A driver that takes longer than the time limit to start, as when it is loaded first, is reported and waited for."""
    with monitor(this, "--interval=200ms", "--duration=20s", serve=False, START_MS=7000) as running:
        running.wait_for("a table comes", lambda: running.stdout.stat().st_size > 0)
        lines = running.said().splitlines()
        this.true("the delay is reported", len(lines) == 2 and "waiting for it" in lines[0] and "answers again" in lines[1],
                  lines)


def check_hangs(this):
    with monitor(this, "--quiet", "--interval=200ms", SLOW_MS=FOREVER_MS) as running:
        this.equal("health before the first sample", running.get("/healthz")[0], 503)
        running.wait_for("the reason is said", lambda: "has not answered for" in running.said())
        this.true("it is left alone", running.said().endswith("waiting for it\n"), running.said())
        families = running.families()
        this.equal("driver up", value(families, "mlrun_monitor_driver_up"), 0)
        this.true("the GPUs are known", "mlrun_gpu" in families, list(families))
        this.equal("GPUs that answer", {s.value for s in families["mlrun_gpu_up"].samples}, {0})
        this.true("values", "mlrun_gpu_memory_used_bytes" not in families, list(families))
        begin = time.monotonic()
        this.equal("exit status", running.end(), 0, said=running.said())
        this.true("it ends although the driver hangs", time.monotonic() - begin < 15)
    check_starts_slowly(this)
    done = this.run(case.MLRUN, "monitor", "--duration=1s", env=fake_driver(this, 580, SLOW_MS=FOREVER_MS))
    this.equal("exit status where no sample ended", done.returncode, 125, said=done.stderr)
    this.true("one line", done.stderr.count("\n") == 1 and "did not answer in time" in done.stderr, done.stderr)


def check(this):
    need_no_driver()
    check_alone(this)
    check_comes_later(this)
    check_hangs(this)


if __name__ == "__main__":
    case.run(check)
