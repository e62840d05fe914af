#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lttng_session.sh FOLDER COMMAND...: runs COMMAND with LTTng's wrapper of the malloc family, and leaves what was recorded
# in FOLDER/lttng. The session is this run's own; the daemon is started once and stays, idle between sessions.
set -euo pipefail
folder=$1
shift
name=mlrun-bench-$$
lttng-sessiond --daemonize >/dev/null 2>&1 || true # one that runs already is used
end() { lttng destroy "$name" >/dev/null 2>&1 || true; }
trap end EXIT
{
  lttng create "$name" --output="$folder/lttng"
  # Room for bursts, as mlrun has by default; what does not fit is counted by the trace itself.
  lttng enable-channel --session="$name" --userspace --subbuf-size=8M --num-subbuf=4 calls
  lttng enable-event --session="$name" --userspace --channel=calls 'lttng_ust_libc:*'
  lttng start "$name"
} >"$folder/lttng.log" 2>&1
status=0
LD_PRELOAD=liblttng-ust-libc-wrapper.so.1 "$@" || status=$?
lttng stop "$name" >>"$folder/lttng.log" 2>&1
exit "$status"
