#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What systems.sh does in each system: installs WHEEL in a new environment, runs commands untraced and traced, removes it again.
# Usage: inside.sh WHEEL
set -euo pipefail
wheel=$1
cd /tmp
export HOME=/tmp/home
mkdir "$HOME"

fail() {
  printf 'inside: %s\n' "$*" >&2
  exit 1
}

files_of() { (cd "$1" && find . | sort); }

python3 -m venv venv
files_of venv >before
started=$(date +%s%3N)
sleep 0.1 # the clock of files is coarse
touch stamp
venv/bin/pip install --quiet --no-cache-dir --no-index "$wheel"
venv/bin/mlrun -o first ls -l / >first.out 2>first.err || fail "the first run fails: $(cat first.err)"
printf 'from pip install to the first summary: %s ms, %s, %s\n' $(($(date +%s%3N) - started)) "$(ldd --version | sed -n '1s/.*) //p')" \
  "$(venv/bin/python --version)"
grep -q '^complete: nothing lost' first.err || fail "no summary: $(cat first.err)"

cat >threads.py <<'PROGRAM'
import concurrent.futures, hashlib, multiprocessing, subprocess, tempfile
def digest(number):
    with tempfile.TemporaryFile() as file:
        file.write(bytes([number]) * 100000)
        file.seek(0)
        return hashlib.sha256(file.read()).hexdigest()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(*pool.map(digest, range(8)))
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(*pool.map(digest, range(8)))
print(subprocess.run(["sh", "-c", "echo to a child; exit 3"], capture_output=True))
raise SystemExit(5)
PROGRAM
# shellcheck disable=SC2016  # bash -c expands them
commands=(
  'ls -lR /etc' 'tar -C /usr/share -cf - . | gzip -n | sha256sum' 'find /usr/lib -type f | sort | head -n 500 | xargs sha256sum'
  'sed -n 1,40p /etc/passwd | awk -F: "{print \$1}" | sort | uniq -c' 'perl -e "print join q(,), map { \$_ * 2 } 1..20"'
  'dd if=/dev/zero bs=4096 count=256 status=none | cksum' 'cat /does/not/exist' 'kill -9 $$' 'venv/bin/python threads.py'
  'yes | head -n 100000 | md5sum' 'bash -c "trap : PIPE; yes | head -n 1; echo \${PIPESTATUS[@]}"'
)
for number in "${!commands[@]}"; do
  status=0 traced=0
  bash -c "${commands[number]}" >plain.out 2>plain.err </dev/null || status=$?
  venv/bin/mlrun --quiet -o "trace-$number" -- bash -c "${commands[number]}" >traced.out 2>traced.err </dev/null || traced=$?
  ((status == traced)) || fail "'${commands[number]}': exit status $status, traced $traced"
  cmp plain.out traced.out || fail "'${commands[number]}': another output"
  cmp plain.err traced.err || fail "'${commands[number]}': $(cat traced.err)"
  venv/bin/mlrun report "trace-$number" >text 2>&1 || fail "'${commands[number]}': $(cat text)"
  grep -q '^complete: ' text || fail "'${commands[number]}': $(head -n 3 text)"
done
printf '%s commands are the same untraced and traced\n' "${#commands[@]}"

# Errors of Arrow, which has the system's libstdc++, arrive in mlrun-trace, which has its own.
for damage in 'truncate --size=-20' 'dd if=/dev/zero bs=1 seek=8 count=200 conv=notrunc status=none'; do
  rm -rf damaged && cp -r first damaged
  table=damaged/tables/call/part-00000.parquet
  if [[ $damage == dd* ]]; then $damage of="$table"; else $damage "$table"; fi
  status=0
  venv/bin/mlrun show damaged call >text 2>&1 || status=$?
  if ((status != 125)) || ! grep -q 'the trace damaged is damaged' text; then fail "after '$damage': $status, $(cat text)"; fi
done

venv/bin/mlrun doctor >text || fail "doctor: $(cat text)"
venv/bin/python -c 'import mlrun_mark, mlrun_trace.plot, mlrun_trace.mcp; mlrun_mark.instant("here")'
# Also what was made and removed again would show, by its folder. Here /tmp, /dev and /proc are other file systems.
find / -xdev -cnewer stamp ! -path /tmp ! -path /dev ! -path /proc | diff - /dev/null || fail "written outside of the environment and the trace"
find "$HOME" /dev/shm -mindepth 1 | diff - /dev/null || fail "files are left in the home folder or in /dev/shm"
venv/bin/pip uninstall --quiet --yes mlrun-tracer
files_of venv | diff before - || fail "uninstalling leaves files"
# Without files of pip's own compilation, those that Python has made itself are removed as well.
venv/bin/pip install --quiet --no-cache-dir --no-index --no-compile "$wheel"
venv/bin/python -c 'import mlrun_mark, mlrun_trace.plot, mlrun_trace.mcp'
venv/bin/mlrun -o last ls / >last.out 2>&1 || fail "a run fails: $(cat last.out)"
venv/bin/pip uninstall --quiet --yes mlrun-tracer
files_of venv | diff before - || fail "uninstalling leaves files"
printf 'nothing was written elsewhere; uninstalled\n'
