# SPDX-License-Identifier: Apache-2.0
"""A GPU stops answering while another one continues: its values are missing, not stale, and a metric says since when;
after some time the list of GPUs is read again, without it. The other GPU's counters continue."""

from gpu_case import need_no_driver
from lib import case
from monitor_case import monitor, value

LOST = {"gpu": "GPU-0001-0"}
OTHER = {"gpu": "GPU-0000-0"}
COUNTER = "mlrun_gpu_pcie_received_bytes_total"


def gpus(families):
    return {sample.labels["gpu"] for sample in families["mlrun_gpu_up"].samples}


def check(this):
    need_no_driver()
    lost = this.path("lost")
    with monitor(this, "--quiet", "--interval=200ms", LOST=lost) as running:
        running.wait_until_sampled()
        before = running.families()
        counted = {name: value(before, COUNTER, gpu=name) for name in gpus(before)}
        lost.touch()
        running.wait_for("it is down", lambda: value(running.families(), "mlrun_gpu_up", **LOST) == 0)
        first = running.families()
        unanswered = "mlrun_gpu_unanswered_samples_total"
        enough = value(first, unanswered, **LOST) + 3
        running.wait_for("samples that it did not answer", lambda: value(running.families(), unanswered, **LOST) >= enough)
        later = running.families()
        this.equal("its values", [s for s in later["mlrun_gpu_memory_used_bytes"].samples if LOST.items() <= s.labels.items()], [])
        seen = "mlrun_gpu_last_seen_timestamp_seconds"
        this.equal("its time stands still", value(later, seen, **LOST), value(first, seen, **LOST))
        this.true("the other's does not", value(later, seen, **OTHER) > value(first, seen, **OTHER), later[seen])
        this.equal("the other one is up", value(later, "mlrun_gpu_up", **OTHER), 1)
        this.equal("health", running.get("/healthz")[0], 200)
        running.wait_for("a new list", lambda: gpus(running.families()) == {OTHER["gpu"]})
        running.wait_for("the other's counters go on",
                         lambda: value(running.families(), COUNTER, **OTHER) > counted[OTHER["gpu"]] + 20_000)
        this.equal("exit status", running.end(), 0, said=running.said())
        this.equal("lines said", running.said().count("\n"), 1, said=running.said())


if __name__ == "__main__":
    case.run(check)
