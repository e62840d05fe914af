# SPDX-License-Identifier: Apache-2.0
"""Writes log lines in the format of MLPerf's mllog: `:::MLLOG` and one JSON object with wall-clock milliseconds."""

import contextlib
import json
import os
import sys
import time


@contextlib.contextmanager
def open_log(path, enabled):
    """Lines go to standard output and, where a path is given, to that file too, each one at once. A log that is not
    enabled (that of the ranks other than 0) writes nothing."""
    with open(path, "w", buffering=1) if path and enabled else contextlib.nullcontext() as file:
        yield MlLog(file, enabled)


class MlLog:
    def __init__(self, file, enabled):
        self.enabled = enabled
        self._file = file

    def start(self, key, **metadata):
        self._write("INTERVAL_START", key, None, metadata)

    def end(self, key, **metadata):
        self._write("INTERVAL_END", key, None, metadata)

    def event(self, key, value, **metadata):
        self._write("POINT_IN_TIME", key, value, metadata)

    def _write(self, event_type, key, value, metadata):
        if not self.enabled:
            return
        caller = sys._getframe(2)
        place = {"file": os.path.basename(caller.f_code.co_filename), "lineno": caller.f_lineno}
        line = ":::MLLOG " + json.dumps({
            "namespace": "", "time_ms": int(time.time() * 1000), "event_type": event_type, "key": key,
            "value": value, "metadata": place | metadata})
        print(line, flush=True)
        if self._file:
            print(line, file=self._file)
