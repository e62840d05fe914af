#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches a stock Debian kernel and prints the folder it lies in: boot/vmlinux (unpacked), lib/modules, release.
# Usage: kernels.sh 5.10|6.1|6.12|newest   Exit status 77: it cannot be had here; the last line says why.
# Nothing is installed: the packages are downloaded with package lists of our own and unpacked below the cache
# ($MLRUN_VM_CACHE, else $XDG_CACHE_HOME/mlrun-vm, else ~/.cache/mlrun-vm). What is there already is used as it is.
set -euo pipefail

cache=${MLRUN_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/mlrun-vm}
mirror=${MLRUN_VM_MIRROR:-http://deb.debian.org}
readonly cache mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg

cannot() {
  printf 'the kernel %s cannot be had: %s\n' "$name" "$1" >&2
  exit 77
}

# suites NAME: archive and suite of each source; and the metapackage that leads to the newest image of that kernel.
choose() {
  case $1 in
    5.10) suites=("debian-security bullseye-security" "debian bullseye") meta=linux-image-amd64 ;;
    6.1) suites=("debian-security bookworm-security" "debian bookworm") meta=linux-image-amd64 ;;
    6.12) suites=("debian-security bookworm-security" "debian bookworm") meta=linux-image-6.12-amd64 ;;
    newest) suites=("debian trixie-backports") meta=linux-image-amd64 ;;
    *)
      echo "kernels.sh: '$1' is none of 5.10, 6.1, 6.12, newest" >&2
      exit 2
      ;;
  esac
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

depends_of() { apt-cache "${options[@]}" depends "$1" 2>/dev/null | sed -n 's/^ *Depends: //p'; }

# The packages to unpack: the image and, where it is split, its parts.
find_packages() {
  local image
  image=$(depends_of "$meta" | grep -m1 -E '^linux-image-[0-9]') || cannot "no package $meta in ${suites[*]}"
  mapfile -t packages < <({ printf '%s\n' "$image"; depends_of "$image"; } |
    grep -E '^linux-(image|binary|modules|base)-[0-9]')
}

unpack() {
  (cd "$work" && apt-get "${options[@]}" -qq download "${packages[@]}") >>"$work/log" 2>&1 ||
    cannot "downloading ${packages[*]} failed: $(tail -n 1 "$work/log")"
  local package
  for package in "$work"/*.deb; do dpkg -x "$package" "$root.new"; done
  if [[ ! -e $root.new/lib ]]; then ln -s usr/lib "$root.new/lib"; fi
  release=$(basename "$(ls -d "$root.new"/lib/modules/*/)")
  depmod -b "$root.new" "$release"
}

# The ELF image in a bzImage. It boots by PVH in half the time: no unpacking by emulated code.
extract_vmlinux() {
  local image from=$1 to=$2 entry magic tool offset
  for entry in 'xz|\xFD7zXZ\x00|xz -dc --single-stream' 'zstd|\x28\xB5\x2F\xFD|zstd -dc' 'gzip|\x1F\x8B\x08|gzip -dc'; do
    IFS='|' read -r _ magic tool <<<"$entry"
    for offset in $(LC_ALL=C grep -abo -P "$magic" "$from" | cut -d: -f1 | head -n 4); do
      tail -c+$((offset + 1)) "$from" | $tool >"$to" 2>/dev/null || true
      image=$(head -c 4 "$to" | tr -d '\0')
      if [[ $image == $'\x7fELF' ]]; then return 0; fi
    done
  done
  return 1
}

fetch() {
  local tool
  for tool in apt-get dpkg depmod xz; do
    command -v "$tool" >/dev/null || cannot "$tool is missing"
  done
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work" "$root.new"' EXIT
  make_lists
  find_packages
  unpack
  local image
  image=$(find "$root.new" -name 'vmlinuz*' -type f | head -n 1)
  mkdir -p "$root.new/boot"
  extract_vmlinux "$image" "$root.new/boot/vmlinux" || cannot "$image holds no kernel that can be unpacked"
  printf '%s\n' "$release" >"$root.new/release"
  mv -T "$root.new" "$root"
}

name=${1:?usage: kernels.sh 5.10|6.1|6.12|newest}
choose "$name"
root=$cache/$name
mkdir -p "$cache"
exec {lock}>"$cache/$name.lock"
flock "$lock"
if [[ ! -e $root/release ]]; then fetch; fi
printf '%s\n' "$root"
