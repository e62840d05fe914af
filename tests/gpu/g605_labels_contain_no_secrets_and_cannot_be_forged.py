# SPDX-License-Identifier: Apache-2.0
"""Arguments of processes are labels only on request, and then without what looks like a secret; a process named like a
line of metrics is only a label; two processes of one name are two."""

import socket

from gpu_case import sandbox_has_children_file
from lib import case
from monitor_case import monitor

SECRETS = ("hunter2", "hunter3", "hunter4")
USERS = ["plain|--lr=0.1|--api-key=hunter2|--token|hunter3|https://me:hunter4@host/x", 'a"} 1\nfoo 2', "back\\x41\\", "bytes\udcff",
         "same", "same"]


def names(families):
    return sorted(s.labels["comm"] for s in families["mlrun_gpu_process_active"].samples if s.labels["index"] == "0")


def check(this):
    if not sandbox_has_children_file():
        raise case.Skip("the kernel has no /proc/PID/task/TID/children")
    with monitor(this, "--interval=200ms", users=USERS) as running:
        running.wait_until_sampled()
        for accept in ("application/openmetrics-text", "text/plain"):
            families = running.families(accept)
            this.equal("names", names(families), sorted(["plain", 'a"} 1\nfoo 2', "back\\x5cx41\\", "bytes\\xff", "same", "same"]))
            this.true("a forged metric", not [name for name in families if name.startswith("foo")], list(families))
            text = running.get("/metrics", accept)[2]
            this.true("arguments", "--lr" not in text and not any(secret in text for secret in SECRETS), text)
        this.equal("hostname", {s.labels["hostname"] for s in families["mlrun_gpu_up"].samples}, {socket.gethostname()})
        table = running.stdout.read_text()
        this.true("control characters in the table", 'a"} 1\\x0afoo 2' in table, table)
    with monitor(this, "--interval=200ms", "--label-args", "--hostname=no\"de", users=USERS) as running:
        running.wait_until_sampled()
        families = running.families()
        args = next(s.labels["args"] for s in families["mlrun_gpu_process_active"].samples if s.labels["comm"] == "plain")
        this.true("arguments", args.endswith(
            "plain --lr=0.1 --api-key=*** --token *** https://***:***@host/x"), args)
        everything = running.get("/metrics")[2] + running.stdout.read_text()
        this.true("secrets", not any(secret in everything for secret in SECRETS), everything)
        this.equal("hostname", {s.labels["hostname"] for s in families["mlrun_gpu_up"].samples}, {'no"de'})


if __name__ == "__main__":
    case.run(check)
