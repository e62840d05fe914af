#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redis-server under redis-benchmark, with a background save by fork, an append-only file and a clean end. Prints what must not
# depend on time: how many requests each test made, the keys, the reply of a script, the exit status.
set -euo pipefail
socket=$PWD/redis.sock
redis-server --port 0 --unixsocket "$socket" --dir "$PWD" --save '' --appendonly yes --daemonize no --loglevel warning \
  >server.log 2>&1 &
server=$!
ask() { redis-cli -s "$socket" "$@"; }
for _ in $(seq 100); do
  if [[ -S $socket ]] && [[ $(ask ping 2>/dev/null) == PONG ]]; then break; fi
  sleep 0.1
done
redis-benchmark -s "$socket" -n 5000 -c 20 -t set,get,incr,lpush,hset --csv | cut -d, -f1
ask set greeting hello
ask eval 'local n = 0; for i = 1, 1000 do n = n + redis.call("incr", "counter") end; return n' 0
ask bgsave | sed 's/ing.*//'
while [[ $(ask info persistence | tr -d '\r' | sed -n 's/^rdb_bgsave_in_progress://p') == 1 ]]; do sleep 0.1; done
ask info persistence | tr -d '\r' | grep -E '^(rdb_last_bgsave_status|aof_last_write_status):'
ask dbsize
ask shutdown nosave || true
status=0
wait "$server" || status=$?
echo "server ended with $status"
rm -rf ./*
