#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the installer says when it cannot install. Works on a copy of it, in a checkout of its own, whose list names a
# package that no system has.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(mktemp -d "${TMPDIR:-/tmp}/mlrun-install-test.XXXXXX")
readonly here checkout
trap 'rm -rf "$checkout"' EXIT
mkdir -p "$checkout/tests"
cp -r "$here" "$checkout/tests/setup"
sed -i 's/^readonly debian_compile=(/&\n  mlrun-no-such-package/' "$checkout/tests/setup/packages.sh"
chmod -R a+rX "$checkout"

without_root=()
if ((EUID == 0)); then without_root=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi

fail() {
  printf 'FAILED: %s\n%s\n' "$1" "$said" >&2
  exit 1
}

# refused STATUS LEVEL: the installer must fail so and leave nothing behind; its words go to $said.
refused() {
  local status=0
  said=$("${without_root[@]}" "$checkout/tests/setup/install.sh" "$2" 2>&1) || status=$?
  if ((status != $1)); then fail "level '$2' ended with status $status, not $1"; fi
  if [[ -e $checkout/.venv ]]; then fail "something was installed"; fi
}

says() {
  grep -qF -- "$1" <<<"$said" || fail "not said: $1"
}

refused 1 build
says 'apt-get install --yes --no-install-recommends mlrun-no-such-package'
says "/usr/bin/python3 -m venv $checkout/.venv"
says "$checkout/.venv/bin/pip install pyarrow=="
refused 1 everything
says "there is no level 'everything'; use one of: compile build test bench cluster harmless"
printf 'the installer names what is missing\n'
