# SPDX-License-Identifier: Apache-2.0
# Sourced by kernels.sh, emulator.sh and tests/setup/pythons.sh: Debian packages without installing them. They are downloaded
# with package lists of our own and unpacked below the cache ($MLRUN_VM_CACHE, else $XDG_CACHE_HOME/mlrun-vm, else
# ~/.cache/mlrun-vm); what is there already is used as it is. Variables of the caller: what (for messages), suites
# ("ARCHIVE SUITE" each).
# shellcheck shell=bash disable=SC2154

cache=${MLRUN_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/mlrun-vm}
mirror=${MLRUN_VM_MIRROR:-http://deb.debian.org}
readonly cache mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg

cannot() {
  printf '%s cannot be had: %s\n' "$what" "$1" >&2
  exit 77
}

needs_tools() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || cannot "$tool is missing"
  done
}

# fetch_once NAME FUNCTION: prints the folder $root, which the function makes from $root.new and $work if it is not there.
fetch_once() {
  root=$cache/$1
  mkdir -p "$cache"
  exec {lock}>"$cache/$1.lock"
  flock "$lock"
  if [[ ! -d $root ]]; then
    work=$(mktemp -d "$cache/fetch.XXXXXX")
    trap 'rm -rf "$work" "$root.new"' EXIT
    "$2"
  fi
  printf '%s\n' "$root"
}

make_lists() {
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  local source
  for source in "${suites[@]}"; do
    printf 'deb [signed-by=%s] %s/%s main\n' "$keyring" "$mirror" "$source"
  done >"$work/sources.list"
  options=(-o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o "Dir::Etc::sourcelist=$work/sources.list"
    -o Dir::Etc::sourceparts=- -o APT::Architectures=amd64 -o Acquire::Languages=none -o APT::Sandbox::User=)
  apt-get "${options[@]}" -qq update >"$work/log" 2>&1 || cannot "apt-get update failed: $(tail -n 1 "$work/log")"
}

# unpack_packages FOLDER PACKAGE...
unpack_packages() {
  local folder=$1 package
  shift
  (cd "$work" && apt-get "${options[@]}" -qq download "$@") >>"$work/log" 2>&1 ||
    cannot "downloading $* failed: $(tail -n 1 "$work/log")"
  for package in "$work"/*.deb; do dpkg -x "$package" "$folder"; done
}
