# SPDX-License-Identifier: Apache-2.0
"""Runs mlrun monitor with programs that "use" a GPU and a mock NVML of known values."""

import contextlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import prometheus_client.openmetrics.parser
import prometheus_client.parser
from gpu_case import fake_driver
from lib import case

MARKER = case.BUILD / "gpu" / "marker" / "libcuda.so.1"
OPEN = "application/openmetrics-text"
# The fake's processes are children of the one that asks, so each is started before its parent becomes mlrun: it maps the
# library, takes a name, and lives until its parent is gone.
USER = """
import ctypes, os, sys, time
parent = os.getppid()
ctypes.CDLL(sys.argv[1])
ctypes.CDLL(None).prctl(15, sys.argv[2].encode("utf-8", "surrogateescape"), 0, 0, 0)
print("ready", flush=True)
while os.getppid() == parent:
    time.sleep(0.02)
"""
PARENT = """
import os, subprocess, sys
user, marker, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
names, command = sys.argv[4:4 + count], sys.argv[4 + count:]
for name in names:
    arguments = name.split("|")
    process = subprocess.Popen([sys.executable, "-c", user, marker, *arguments], stdout=subprocess.PIPE)
    process.stdout.readline()
os.execv(command[0], command)
"""


class Monitor:
    """A monitor that runs, and what it serves."""

    def __init__(self, this, process, stderr):
        self.this, self.process, self.stderr = this, process, stderr
        self.url = None

    def said(self):
        return self.stderr.read_text()

    def wait_for(self, what, holds, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return
            if self.process.poll() is not None:
                raise AssertionError(f"{what}: the monitor ended with {self.process.returncode}: {self.said()}")
            time.sleep(0.05)
        raise AssertionError(f"{what}: not within {seconds} s; it said {self.said()}")

    def find_address(self):
        self.wait_for("its address is said", lambda: "/metrics and" in self.said())
        self.url = self.said().split("serving ")[1].split("/metrics")[0]

    def get(self, path, accept=None, method="GET", timeout=20):
        """Status, headers and text."""
        request = urllib.request.Request(self.url + path, headers={"Accept": accept} if accept else {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def families(self, accept=OPEN):
        """By name, as Prometheus' own parsers read them; they raise on invalid input."""
        status, headers, text = self.get("/metrics", accept)
        self.this.equal("status of /metrics", status, 200, said=text)
        is_open = headers["Content-Type"].startswith(OPEN)
        parser = prometheus_client.openmetrics.parser if is_open else prometheus_client.parser
        found = list(parser.text_string_to_metric_families(text))
        self.this.equal("families that are there twice", len(found), len({family.name for family in found}))
        return {family.name: family for family in found}

    def wait_until_sampled(self, samples=3):
        name = "mlrun_monitor_sample_duration_seconds"
        self.wait_for("samples", lambda: self.get("/healthz")[0] == 200 and
                      next(s.value for s in self.families()[name].samples if s.name.endswith("_count")) >= samples)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


@contextlib.contextmanager
def monitor(this, *options, driver=580, users=(), environment=None, serve=True, stdout=None, **settings):
    """`users`: a name for each process on the GPUs, with arguments behind it ("name|argument|argument")."""
    stderr = this.path(f"stderr{this.traces}")
    this.traces += 1
    listen = ["--listen=127.0.0.1:0"] if serve else []
    command = [str(case.MLRUN), "monitor", *listen, *options]
    everything = [sys.executable, "-c", PARENT, USER, str(MARKER), str(len(users)), *users, *command]
    with open(stderr, "w", encoding="utf-8") as errors, open(this.path(f"stdout{this.traces}"), "wb") as output:
        process = subprocess.Popen(everything, env=environment or fake_driver(this, driver, **settings), cwd=this.folder,
                                   stdin=subprocess.DEVNULL, stdout=stdout or output, stderr=errors)
    running = Monitor(this, process, stderr)
    running.stdout = this.path(f"stdout{this.traces}")
    try:
        if serve:
            running.find_address()
        yield running
    finally:
        process.kill()
        process.wait()


def value(families, name, **labels):
    """The one sample that has these labels."""
    family = families[name.removesuffix("_total").removesuffix("_info")] if name not in families else families[name]
    found = [sample.value for sample in family.samples
             if sample.name.removesuffix("_total") == name.removesuffix("_total") and labels.items() <= sample.labels.items()]
    if len(found) != 1:
        raise AssertionError(f"{name} {labels}: {len(found)} samples in {family}")
    return found[0]
