#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# initdb, a server, pgbench, a crash and its recovery; not as root, which PostgreSQL refuses. Prints what must not depend on time.
set -euo pipefail
bin=$(find /usr/lib/postgresql/*/bin -name initdb -printf '%h\n' | sort -V | tail -1)
at=(--host "$PWD" --username tester)
serve=(--pgdata data --wait --log server.log --options "-k $PWD -h ''")
ask() { "$bin/psql" "${at[@]}" --dbname "$1" --quiet --tuples-only --command "$2"; }
"$bin/initdb" --pgdata data --username tester --auth trust --no-locale --encoding UTF8 | grep -c .
"$bin/pg_ctl" "${serve[@]}" start >/dev/null
ask postgres 'create database bench'
"$bin/pgbench" "${at[@]}" --initialize --scale 1 --quiet bench 2>/dev/null
"$bin/pgbench" "${at[@]}" --client 4 --jobs 2 --transactions 100 bench 2>/dev/null | grep -E 'processed|failed'
ask bench 'select count(*), sum(abalance) = (select sum(tbalance) from pgbench_tellers) from pgbench_accounts'
"$bin/pg_ctl" --pgdata data --wait --mode immediate stop >/dev/null
"$bin/pg_ctl" "${serve[@]}" start >/dev/null
ask bench 'select count(*) from pgbench_history'
"$bin/pg_ctl" --pgdata data --wait --mode fast stop >/dev/null
grep -cE 'PANIC|FATAL' server.log || true
rm -rf data server.log
