#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the first file system of a guest: busybox, the modules that reach the disk and the host's files, and init.
# Usage: initramfs.sh KERNEL-FOLDER OUT MODULE...   It is not compressed: unpacking by emulated code is the slower way.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$1 out=$2
shift 2
release=$(<"$root/release")
folder=$(mktemp -d "${TMPDIR:-/tmp}/mlrun-vm.XXXXXX")
trap 'rm -rf "$folder" "$out.new.$$"' EXIT

mkdir -p "$folder"/{bin,modules,proc,sys,dev,lower,upper,newroot,job}
cp "$(command -v busybox)" "$folder/bin/busybox"
for applet in sh mount insmod mkdir cat echo switch_root reboot cut sync; do ln -s busybox "$folder/bin/$applet"; done

# modprobe knows the order, soft dependencies too. No configuration of the host's: Debian's has an "install" rule for
# libnvdimm, which would hide that module.
: >"$folder/modules/order"
declare -A seen
for module in "$@"; do
  while read -r verb path _; do
    if [[ $verb != insmod || -n ${seen[$path]:-} ]]; then continue; fi
    seen[$path]=1
    file=$(basename "$path")
    case $file in
      *.xz) file=${file%.xz} && xz -dc "$path" >"$folder/modules/$file" ;;
      *.zst) file=${file%.zst} && zstd -qdc "$path" >"$folder/modules/$file" ;;
      *) cp "$path" "$folder/modules/" ;;
    esac
    printf '%s\n' "$file" >>"$folder/modules/order"
  done < <(modprobe -d "$root" -C /dev/null -S "$release" --show-depends "$module" 2>/dev/null)
done
cp "$here/init" "$folder/init"
chmod 755 "$folder/init"
(cd "$folder" && find . | cpio -o -H newc --quiet -R 0:0) >"$out.new.$$"
mv "$out.new.$$" "$out"
