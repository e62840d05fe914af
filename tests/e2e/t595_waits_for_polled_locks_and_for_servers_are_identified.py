# SPDX-License-Identifier: Apache-2.0
"""Workers that try a file lock repeatedly, asleep in between, wait for the lock and not for a timer. A training that reports its progress to a
server waits for the server, not for a batch."""

import http.server
import json
import sys
import threading
import time

from lib import case, training

COMMON = """
import fcntl, http.client, sys, time
import torch
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
class Samples(Dataset):
    def __len__(self):
        return 120
    def __getitem__(self, number):
        make(number)
        return torch.zeros(8)
def train(after):
    for batch in DataLoader(Samples(), batch_size=2, num_workers=2):
        torch.zeros(100).sum()
        after()
"""
POLLS = """
def make(number):
    with open(sys.argv[1], "w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.003)
        time.sleep(0.02)
train(lambda: None)
"""
ASKS = """
def make(number):
    pass
link = http.client.HTTPConnection(sys.argv[1])
def after():
    link.request("GET", "/")
    link.getresponse().read()
train(after)
"""


class Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.05)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def report_of(this, program, *words):
    out = this.new_trace()
    done = this.run(case.MLRUN, "-o", out, sys.executable, "-c", COMMON + program, *words)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    report = json.loads(this.run(case.MLRUN, "report", out, "--json").stdout)
    this.equal("activities add up to the wall time", sum(row["ns"] for row in report["time"]), report["run"]["wall_ns"])
    return report, [finding["cause"] for finding in report["findings"]]


def check(this):
    training.need_torch()
    report, causes = report_of(this, POLLS, this.path("lock"))
    this.equal("workers that poll a lock", ("data_lock" in causes, "timer" in causes), (True, False), said=str(report["findings"]))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    report, causes = report_of(this, ASKS, f"127.0.0.1:{server.server_port}")
    server.shutdown()
    this.equal("a server that gets a message each step", ("remote_call" in causes, "data_remote" in causes), (True, False), said=str(report["findings"]))
    asked_ns = sum(row["ns"] for row in report["time"] if (row["activity"], row["state"]) == ("compute", "remote"))
    this.true("60 answers of 50 ms", asked_ns > 2_900_000_000, report["time"])


if __name__ == "__main__":
    case.run(check)
