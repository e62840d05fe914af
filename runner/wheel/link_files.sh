#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the folder for -DMLRUN_PORTABLE: what programs are linked with so that they start with glibc 2.28 and later.
# Usage: link_files.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here folder=${1:?usage: link_files.sh FOLDER}

glibc=$("$here/../../tests/setup/old_glibc.sh")
mkdir -p "$folder"
cp "$glibc"/usr/lib/x86_64-linux-gnu/{crt1.o,Scrt1.o,crti.o,crtn.o,libc_nonshared.a} "$folder"
for name in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 ld-linux-x86-64.so.2; do
  cp "$glibc/lib/x86_64-linux-gnu/$name" "$folder"
  ln -sf "$name" "$folder/${name%%.so*}.so"
done

# In glibc 2.34 and later, for which our link lines are made, all of these are libc.
rm "$folder/libc.so"
cat >"$folder/libc.so" <<'SCRIPT'
OUTPUT_FORMAT(elf64-x86-64)
GROUP ( libc.so.6 libc_nonshared.a libnewer.a AS_NEEDED ( libpthread.so.0 libdl.so.2 librt.so.1 libm.so.6 ld-linux-x86-64.so.2 ) )
SCRIPT

# Libraries that link lines name without a path.
for name in libelf.a libz.a liblzma.a libbz2.a; do ln -sf "$(gcc -print-file-name="$name")" "$folder/$name"; done

"$here/error_names.sh" >"$folder/error_names.h"

# archive NAME COMPILER...: libNAME.a of one object.
archive() {
  local name=$1
  shift
  "$@" -O2 -fPIE -Wall -Wextra -Werror -c -o "$folder/$name.o"
  rm -f "$folder/lib$name.a"
  ar rcs "$folder/lib$name.a" "$folder/$name.o"
}

archive newer gcc -std=gnu11 -D_GNU_SOURCE "-I$folder" "$here/newer_libc.c"
archive fmt g++ -std=c++20 -DFMT_SHARED "$here/fmt_library.cpp"
archive tomlplusplus g++ -std=c++20 -DTOML_HEADER_ONLY=0 -DTOML_SHARED_LIB=1 -DTOML_IMPLEMENTATION -x c++ /usr/include/toml++/toml.h
