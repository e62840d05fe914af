#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what packages.sh lists for one level (compile, build, test, bench, cluster or harmless): Debian packages through apt-get, Python
# packages into .venv at the top of the checkout, and from level test on further interpreters through pythons.sh. Run again, it finds
# everything there and ends at once. Without root it prints what has to be installed and fails. One run at a time per checkout;
# a second one waits for the first.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
readonly here root venv=$root/.venv system_python=/usr/bin/python3
# shellcheck source-path=SCRIPTDIR source=packages.sh
source "$here/packages.sh"

usage() {
  cat <<USAGE
Usage: tests/setup/install.sh [LEVEL [COMMAND...]]

Installs the Debian packages and the Python environment (.venv) that LEVEL needs:
  compile   build mlrun
  build     build mlrun and run the demonstration (default)
  test      build, and run all tests
  bench     test, and the other tracers that tests/bench compares with
  cluster   test, and a Slurm for tests/sweep
  harmless  test, and the large programs of tests/harmless
COMMAND is run as soon as mlrun can be compiled, beside the installation of the rest.
USAGE
}

say() { printf 'setup: %s\n' "$*" >&2; }

fail() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

# Whether what level $1 lists belongs to level $2: bench, cluster and harmless all stand on test.
is_part_of() { [[ $1 == "$2" || ($1 != bench && $1 != cluster) ]]; }

# Fills debian_wanted and python_wanted with the lists of $1 and of all levels below it.
select_level() {
  debian_wanted=() python_wanted=()
  local level
  for level in "${levels[@]}"; do
    if ! is_part_of "$level" "$1"; then continue; fi
    local -n debian_of_level=debian_$level python_of_level=python_$level
    debian_wanted+=("${debian_of_level[@]}")
    python_wanted+=("${python_of_level[@]}")
    if [[ $level == "$1" ]]; then return 0; fi
  done
  usage >&2
  fail "there is no level '$1'; use one of: ${levels[*]}"
}

# Fills debian_missing: asks dpkg every time, since a copied or cached checkout says nothing about this system.
find_missing_debian() {
  local -A present=()
  local name status
  while read -r name status; do
    if [[ $status == "install ok installed" ]]; then present[$name]=1; fi
  done < <(dpkg-query -W -f '${Package} ${Status}\n' "${debian_wanted[@]}" 2>/dev/null || true)
  debian_missing=()
  for name in "${debian_wanted[@]}"; do
    if [[ -z ${present[$name]:-} ]]; then debian_missing+=("$name"); fi
  done
}

# A venv does not survive being moved, so the stamp's key holds the place as well as the versions.
python_key() { printf '%s\n' "$venv" "$(readlink -f "$system_python")" "$simdjson_source" "${python_wanted[@]}" | sha256sum; }
python_stamp() { printf '%s/.installed-%s' "$venv" "$1"; }
python_is_complete() (
  select_level "$1"
  stamp=$(python_stamp "$1")
  [[ -x $venv/bin/python && -f $stamp && $(<"$stamp") == "$(python_key)" ]]
)

# Stamps $1 and every level below it. A stamp that holds already is not touched: build.sh goes by its time.
stamp_python() (
  for level in "${levels[@]}"; do
    if ! is_part_of "$level" "$1"; then continue; fi
    select_level "$level"
    if ! python_is_complete "$level"; then python_key >"$(python_stamp "$level")"; fi
    if [[ $level == "$1" ]]; then return 0; fi
  done
)

# Runs "$@" without a word; on failure shows the end of what it said.
quietly() {
  local log
  log=$(mktemp "${TMPDIR:-/tmp}/mlrun-setup.XXXXXX")
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 20 "$log" >&2
  fail "'${*:1:3} ...' failed; its full output is in $log"
}

print_commands() {
  cat >&2 <<COMMANDS
setup: these Debian packages are missing, and installing them needs root: ${debian_missing[*]}
setup: run this as root, then start again:

  apt-get update && apt-get install --yes --no-install-recommends ${debian_missing[*]}
COMMANDS
  if python_is_complete "$1"; then return 0; fi
  cat >&2 <<COMMANDS

setup: the Python packages need no root; starting again installs them, by the same commands as these:

  $system_python -m venv $venv
  $venv/bin/pip install ${python_wanted[*]}
  $venv/bin/python -c 'import pyarrow; pyarrow.create_library_symlinks()'
  $venv/bin/pip download --no-deps --no-binary ${simdjson_source%%=*} -d $venv/src $simdjson_source
  tar -xzf $venv/src/*.tar.gz -C $venv/src --strip-components=1
COMMANDS
}

install_debian() {
  say "installing ${#debian_missing[@]} Debian packages: ${debian_missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  quietly apt-get update --quiet
  quietly apt-get install --quiet --yes --no-install-recommends "${debian_missing[@]}"
}

# An installation that was cut short may have left half a package that pip takes for a whole one: restart from scratch.
install_python() {
  local unfinished=$venv/.installing
  if [[ -e $unfinished ]] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    say "making the Python environment $venv"
    quietly "$system_python" -m venv --clear "$venv"
  fi
  touch "$unfinished"
  if ! python_is_complete compile; then
    pip_install compile
    # The wheel holds versioned libraries only; linking asks for libarrow.so.
    quietly "$venv/bin/python" -c 'import pyarrow; pyarrow.create_library_symlinks()'
    rm -rf "$venv/src"
    quietly "$venv/bin/python" -m pip download --no-input --disable-pip-version-check --no-deps --no-binary "${simdjson_source%%=*}" \
      -d "$venv/src" "$simdjson_source"
    tar -xzf "$venv/src"/*.tar.gz -C "$venv/src" --strip-components=1
    stamp_python compile
  fi
  if [[ $1 != compile ]]; then
    run_beside
    pip_install "$1"
    stamp_python "$1"
  fi
  rm "$unfinished"
}

pip_install() (
  select_level "$1"
  say "installing Python packages: ${python_wanted[*]}$(if [[ $1 != compile ]]; then echo " (torch is large: minutes on a slow line)"; fi)"
  quietly "$venv/bin/python" -m pip install --no-input --disable-pip-version-check "${python_wanted[@]}"
)

# Starts the user's command, which ends with us. In the background it would not see the interrupt key itself.
run_beside() {
  if ((${#beside[@]} == 0)); then return 0; fi
  trap 'kill "$beside_pid" 2>/dev/null && wait "$beside_pid" || true' EXIT
  "${beside[@]}" {lock}>&- &
  beside_pid=$!
}

# From a mirror that may be out of reach, or no longer have them: tests take those that are there.
fetch_interpreters() {
  local version said
  if [[ $1 == compile || $1 == build ]]; then return 0; fi
  for version in "${interpreters[@]}"; do
    said=$("$here/pythons.sh" "$version" 2>&1) || say "stacks of Python $version are not tested: ${said##*$'\n'}"
  done
}

main() {
  local level=${1:-build}
  if [[ $level == -h || $level == --help ]]; then
    usage
    return 0
  fi
  beside=("${@:2}") beside_pid=""
  if ! command -v dpkg-query >/dev/null; then fail "this is not a Debian system (dpkg-query is missing)"; fi
  select_level "$level"

  exec {lock}<"$here/install.sh"
  flock "$lock"
  find_missing_debian
  if ((${#debian_missing[@]} > 0)); then
    if ((EUID != 0)); then
      print_commands "$level"
      return 1
    fi
    install_debian
  fi
  if ! python_is_complete "$level"; then
    install_python "$level"
    say "everything for '$level' is installed"
  fi
  fetch_interpreters "$level"
  if [[ -n $beside_pid ]]; then
    wait "$beside_pid"
  elif ((${#beside[@]} > 0)); then
    "${beside[@]}" {lock}>&-
  fi
}

main "$@"
