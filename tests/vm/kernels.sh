#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches a stock kernel and prints the folder it lies in: boot/vmlinux (unpacked), lib/modules, release. They are Debian's, but for 5.15,
# which Debian has no more: that is Ubuntu's.
# Usage: kernels.sh 5.10|5.15|6.1|6.12|newest   Exit status 77: it cannot be had here; the last line says why.
# Usage: kernels.sh FOLDER   The same for a locally built kernel: FOLDER, written with a /, holds these three.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

# suites NAME: archive and suite of each source; and the metapackage that leads to the newest image of that kernel.
choose() {
  case $1 in
    5.10) suites=("debian-security bullseye-security" "debian bullseye") meta=linux-image-amd64 ;;
    6.1) suites=("debian-security bookworm-security" "debian bookworm") meta=linux-image-amd64 ;;
    6.12) suites=("debian-security bookworm-security" "debian bookworm") meta=linux-image-6.12-amd64 ;;
    newest) suites=("debian trixie-backports") meta=linux-image-amd64 ;;
    *)
      echo "kernels.sh: '$1' is none of 5.10, 5.15, 6.1, 6.12, newest" >&2
      exit 2
      ;;
  esac
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
  unpack_packages "$root.new" "${packages[@]}"
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

# As Ubuntu 22.04 came with it, which stays where it is. Nobody here has that archive's key: the files are known by their sums.
readonly ubuntu=${MLRUN_VM_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu} of_ubuntu=5.15.0-25-generic_5.15.0-25.25_amd64.deb
readonly ubuntu_files="
linux-signed/linux-image-$of_ubuntu ad56f8c442a54d4f5ff2dff010d00321d53e32b543f3a92f3ba4e042d20a71da
linux/linux-modules-$of_ubuntu d0ba4087d9e1d497925b3481d3531fba6c2a852855f8019d73b0b1385aa4da1f"

fetch_from_ubuntu() {
  needs_tools dpkg depmod zstd
  local file sum
  while read -r file sum; do
    if [[ -z $file ]]; then continue; fi
    /usr/lib/apt/apt-helper download-file "$ubuntu/pool/main/l/$file" "$work/${file##*/}" "SHA256:$sum" >"$work/log" 2>&1 ||
      cannot "downloading $file failed: $(tail -n 1 "$work/log")"
    dpkg -x "$work/${file##*/}" "$root.new"
  done <<<"$ubuntu_files"
  release=$(basename "$(ls -d "$root.new"/lib/modules/*/)")
  depmod -b "$root.new" "$release"
  finish
}

fetch() {
  needs_tools apt-get dpkg depmod xz
  make_lists
  find_packages
  unpack
  finish
}

# With the kernel itself as it boots, and its name.
finish() {
  local image
  image=$(find "$root.new" -name 'vmlinuz*' -type f | head -n 1)
  mkdir -p "$root.new/boot"
  extract_vmlinux "$image" "$root.new/boot/vmlinux" || cannot "$image holds no kernel that can be unpacked"
  printf '%s\n' "$release" >"$root.new/release"
  mv -T "$root.new" "$root"
}

name=${1:?usage: kernels.sh 5.10|5.15|6.1|6.12|newest|FOLDER}
if [[ $name == */* ]]; then
  for part in boot/vmlinux lib/modules release; do
    [[ -e $name/$part ]] || { echo "kernels.sh: $name has no $part" >&2 && exit 2; }
  done
  realpath "$name"
  exit
fi
what="the kernel $name"
if [[ $name == 5.15 ]]; then
  fetch_once 5.15 fetch_from_ubuntu
else
  choose "$name"
  fetch_once "$name" fetch
fi
