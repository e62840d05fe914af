#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A store of objects that answers each request after a while. Started outside of the run that is traced: server.py [DELAY_S]

It prints its HOST:PORT and ends with its standard input.
"""

import http.server
import sys
import threading
import time

DELAY_S = float(sys.argv[1]) if len(sys.argv) > 1 else 0.02
OBJECT = bytes(65536)


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = len(OBJECT) + 4096

    def do_GET(self):
        time.sleep(DELAY_S)
        self.send_response(200)
        self.send_header("Content-Length", str(len(OBJECT)))
        self.end_headers()
        self.wfile.write(OBJECT)

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()
