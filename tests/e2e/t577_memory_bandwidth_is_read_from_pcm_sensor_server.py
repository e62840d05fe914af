# SPDX-License-Identifier: Apache-2.0
"""A server that answers like pcm-sensor-server on its port gives rows of sample_bandwidth that add up to its totals; one
that does not answer, or accepts no connection, delays nothing, and the reason is in the trace. The answers follow PCM's sources: no hardware has it
here."""

import http.server
import itertools
import socket
import threading
import time

from lib import case

PORT = 9738
BYTES_PER_S = {"DRAM_Reads": 5_000_000_000, "DRAM_Writes": 2_000_000_000, "Persistent_Memory_Reads": 1_000_000}


class Pcm(http.server.BaseHTTPRequestHandler):
    began = time.monotonic()
    given = []  # every answer, by name

    def do_GET(self):
        elapsed = time.monotonic() - Pcm.began
        totals = {name: int(rate * elapsed) for name, rate in BYTES_PER_S.items()}
        lines = [f'{name}{{socket="{socket_id}",source="uncore"}} {total * (socket_id + 1)}' for socket_id in (0, 1)
                 for name, total in totals.items()]
        if self.path == "/metrics":
            Pcm.given.append(totals)
        body = "\n".join(["# HELP", *lines, 'DRAM_Reads{aggregate="system",source="uncore"} 7']).encode()
        self.send_response(200 if self.path == "/metrics" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = False  # the answer is complete nevertheless

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True


def sampled(this):
    out = this.new_trace()
    done = this.run(case.MLRUN, "--preload=off", "--sample=memory", "-o", out, "sleep", "3.3")
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    return trace, [line["text"] for line in trace.run["machine_sampler"]["remarks"]]


def check_hanging(this, name, server):
    trace, remarks = sampled(this)
    this.true(name, any(f"pcm-sensor-server: the server on port {PORT} does not answer in time" in line for line in remarks), remarks)
    this.true(f"{name} holds nothing up", len(trace.rows("sample_memory")) > 10, server)


def check(this):
    try:
        server = Server(("127.0.0.1", PORT), Pcm)
    except OSError as reason:
        raise case.Skip(f"port {PORT} is taken: {reason}") from reason
    threading.Thread(target=server.serve_forever, daemon=True).start()
    trace, remarks = sampled(this)
    server.shutdown()
    server.server_close()
    if any("by uncore events of perf:" in line and "cannot be read" not in line for line in remarks):
        raise case.Skip("this machine has uncore events")
    this.true("it is said", remarks[-1].startswith("bandwidth of memory by pcm-sensor-server"), remarks)
    rows = trace.rows("sample_bandwidth")
    this.equal("where they come from", {(row["source"], row["channel"]) for row in rows}, {("pcm-sensor-server", None)})
    columns = {"DRAM_Reads": ("dram", "read_bytes"), "DRAM_Writes": ("dram", "written_bytes"),
               "Persistent_Memory_Reads": ("pmem", "read_bytes")}
    sums = {}
    for name, (kind, column) in columns.items():
        for socket_id in (0, 1):
            mine = [row[column] for row in rows if row["kind"] == kind and row["socket"] == socket_id]
            this.true("one a second", len(mine) >= 2, rows)
            sums[name, socket_id] = sum(mine)
    # Other programs on this machine may ask the server, too: rows are the growth between two of its answers.
    grown = [{(name, socket_id): (last[name] - first[name]) * (socket_id + 1) for name, socket_id in sums}
             for first, last in itertools.combinations(Pcm.given, 2)]
    this.true("rows add up to the growth between two answers", sums in grown, (sums, Pcm.given))
    with socket.create_server(("127.0.0.1", PORT), reuse_port=False) as silent:
        check_hanging(this, "one that is silent", silent)
    with socket.create_server(("127.0.0.1", PORT), backlog=0) as full:  # the kernel drops what its queue has no room for
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", PORT))
        check_hanging(this, "one whose queue is full", full)
        for one in waiting:
            one.close()


if __name__ == "__main__":
    case.run(check)
