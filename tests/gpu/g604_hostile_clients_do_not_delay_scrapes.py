# SPDX-License-Identifier: Apache-2.0
"""Clients that send nothing, send a byte now and then, read nothing, send garbage or send too much: scrapes are
answered at once meanwhile, no connection lives longer than its time limit, and nothing of them is left."""

import contextlib
import os
import socket
import threading
import time

from gpu_case import need_no_driver
from lib import case
from monitor_case import monitor, value

CONNECTIONS_MAX, LIFE_S = 64, 10
NONSENSE = (b"\0" * 4096, b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
            b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 65536,
            b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            b"GET http://[::1/%zz HTTP/1.1\r\nHost: \xff\r\n\r\n", b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n")


def connect(running):
    host, port = running.url.removeprefix("http://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=20)


def open_files(running):
    return len(os.listdir(f"/proc/{running.process.pid}/fd"))


def check_answers(this, running):
    for path, method, status in (("/metrics", "GET", 200), ("/metrics?x=1", "GET", 200), ("/healthz", "HEAD", 200),
                                 ("/", "GET", 200), ("/other", "GET", 404), ("/metrics/", "GET", 404), ("/metrics", "POST", 405),
                                 ("/healthz", "DELETE", 405)):
        got, headers, text = running.get(path, method=method)
        this.equal(f"{method} {path}", got, status, said=text)
        this.equal("body of HEAD", method == "HEAD" and text != "", False)
        if status == 405:
            this.equal("what is allowed", headers["Allow"], "GET, HEAD")
    content = running.get("/metrics")[1]["Content-Type"]
    this.equal("type without Accept", content, "text/plain; version=0.0.4; charset=utf-8")
    content = running.get("/metrics", "application/openmetrics-text;q=0.9,text/plain;q=0.2")[1]["Content-Type"]
    this.equal("type as wanted", content, "application/openmetrics-text; version=1.0.0; charset=utf-8")


def check_nonsense(this, running):
    for bytes_sent in NONSENSE:
        with contextlib.suppress(ConnectionError), connect(running) as client:
            client.sendall(bytes_sent)
            client.shutdown(socket.SHUT_WR)
            answer = client.recv(4096)
            this.true(f"answer to {bytes_sent[:30]}", not answer.startswith(b"HTTP/1.1 200 OK") or b"metrics" in bytes_sent,
                      answer[:200])
            this.true("no file of the system", b"root:" not in answer, answer)
        this.equal(f"health after {bytes_sent[:30]}", running.get("/healthz")[0], 200)


def drip(client, stop):
    with contextlib.suppress(OSError):
        client.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        while not stop.wait(0.2):
            client.sendall(b"a")


def check_slow(this, running):
    """As many slow clients as fit, of three kinds, and then scrapes."""
    stop = threading.Event()
    clients = [connect(running) for _ in range(CONNECTIONS_MAX)]
    begin = time.monotonic()
    threads = [threading.Thread(target=drip, args=(client, stop)) for client in clients[::3]]
    for thread in threads:
        thread.start()
    for client in clients[1::3]:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
    took = []
    while time.monotonic() - begin < LIFE_S + 3:
        asked = time.monotonic()
        this.equal("a scrape among slow clients", running.get("/metrics")[0], 200)
        took.append(time.monotonic() - asked)
        time.sleep(0.3)
    this.true("scrapes are answered at once", sorted(took)[len(took) // 2] < 1, took)
    stop.set()
    for thread in threads:
        thread.join()
    for client in clients:
        client.settimeout(5)
        with contextlib.suppress(ConnectionError):
            while client.recv(65536):  # a connection that still lived would time out
                pass
        client.close()
    cut = value(running.families(), "mlrun_monitor_cut_connections_total")
    this.true("those that dripped were cut, and counted", cut >= len(threads), (cut, len(threads)))


def check_read_while_written(this, running):
    """A client that keeps sending without reading the answer fills no memory: with small segments the answer stays in flight."""
    before = value(running.families(), "process_resident_memory_bytes")
    clients = []
    for _ in range(8):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        host, port = running.url.removeprefix("http://").rsplit(":", 1)
        client.connect((host, int(port)))
        client.sendall(b"GET /metrics HTTP/1.1\r\n\r\n" * 20)
        client.setblocking(False)
        clients.append(client)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        for client in clients:
            with contextlib.suppress(OSError):
                client.send(b"\0" * (1 << 20))
    grown = value(running.families(), "process_resident_memory_bytes") - before
    this.true("memory that is taken", grown < 8 << 20, grown)
    for client in clients:
        client.close()


def check_flood(this, running):
    for _ in range(5):
        clients = [connect(running) for _ in range(3 * CONNECTIONS_MAX)]
        running.wait_for("few are held", lambda: open_files(running) < CONNECTIONS_MAX + 30)
        this.equal("health in a flood", running.get("/healthz")[0], 200)
        for client in clients:
            client.close()


def check(this):
    need_no_driver()
    with monitor(this, "--quiet", "--interval=1s", users=["a"]) as running:
        running.wait_until_sampled(2)
        before = open_files(running)
        check_answers(this, running)
        time.sleep(LIFE_S + 1)
        cut = value(running.families(), "mlrun_monitor_cut_connections_total")
        this.equal("connections cut among clients that behave", cut, 0)
        check_nonsense(this, running)
        check_slow(this, running)
        check_read_while_written(this, running)
        check_flood(this, running)
        running.wait_for("nothing stays", lambda: open_files(running) <= before, LIFE_S + 20)
        this.equal("said to all that", running.said().count("\n"), 1, said=running.said())
        open_at_the_end = connect(running)
        this.equal("exit status with a client connected", running.end(), 0, said=running.said())
        open_at_the_end.close()
        with monitor(this, "--quiet", f"--listen={running.url.removeprefix('http://')}", serve=False) as other:
            other.url = running.url
            other.wait_for("the port is free again", lambda: "serving" in other.said())
            taken = this.run(case.MLRUN, "monitor", "--quiet", f"--listen={running.url.removeprefix('http://')}")
            this.equal("exit status where the port is taken", taken.returncode, 125)
            this.true("one line", taken.stderr.count("\n") == 1 and "Address already in use" in taken.stderr, taken.stderr)


if __name__ == "__main__":
    case.run(check)
