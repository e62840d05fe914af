# SPDX-License-Identifier: Apache-2.0
"""Every metric and label in the queries of the Grafana dashboard is served by the monitor, and every metric that it
serves is in the monitor's README."""

import json
import re

from gpu_case import sandbox_has_children_file
from lib import case
from monitor_case import monitor

FOLDER = case.SOURCE / "runner" / "monitor"
METRIC = re.compile(r"\b(?:mlrun|process)_\w+")
LABELS = re.compile(r'(mlrun_\w+|process_\w+)\{([^}]*)\}')
# What Prometheus adds to each sample.
OF_THE_TARGET = {"instance", "job"}


def served(this):
    with monitor(this, "--quiet", "--interval=200ms", users=["trainer"]) as running:
        running.wait_until_sampled()
        labels = {}
        for family in running.families("text/plain").values():
            for sample in family.samples:
                labels.setdefault(sample.name, set()).update(sample.labels)
        return labels


def queries(board):
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"], ""


def check(this):
    if not sandbox_has_children_file():
        raise case.Skip("the kernel has no /proc/PID/task/TID/children")
    labels = served(this)
    board = json.loads((FOLDER / "grafana" / "mlrun-gpus.json").read_text())
    asked = set()
    for query, legend in queries(board):
        names = set(METRIC.findall(query))
        this.true("a query for metrics of the monitor", names, query)
        this.equal(f"metrics in {query} that are not served", names - set(labels), set())
        for name, selector in LABELS.findall(query):
            wanted = set(re.findall(r"(\w+)\s*=~?", selector))
            this.equal(f"labels of {name} that are not served", wanted - labels[name], set())
        wanted = set(re.findall(r"{{(\w+)}}", legend)) | set(
            word for words in re.findall(r"\bon\s*\(([^)]*)\)", query) for word in re.split(r"[,\s]+", words) if word)
        this.equal(f"labels in {query} that are not served", wanted - OF_THE_TARGET - set.union(*(labels[n] for n in names)), set())
        asked |= names
    for name in ("mlrun_gpu_process_memory_used_bytes", "mlrun_gpu_process_sm_utilization_ratio", "mlrun_gpu_memory_total_bytes"):
        this.true("the dashboard has it", name in asked, name)
    variables = {variable["name"] for variable in board["templating"]["list"]}
    this.equal("variables", variables, {"datasource", "hostname", "gpu"})
    this.equal("panels that overlap or share a number", len({(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]}),
               len({p["id"] for p in board["panels"]}))
    rows = [line for line in (FOLDER / "README.md").read_text().splitlines() if re.match(r"\| `(mlrun|process_cpu)_", line)]
    readme = set(METRIC.findall("\n".join(rows)))
    stem = {re.sub(r"_(count|sum)$", "", name) for name in labels}
    this.equal("metrics that README.md lacks", stem - readme, set())
    # No mock GPU reports it.
    this.equal("metrics that only README.md has", readme - stem - {"mlrun_gpu_tensor_active_ratio"}, set())


if __name__ == "__main__":
    case.run(check)
