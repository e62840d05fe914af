#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel into build-wheel/dist, or $MLRUN_WHEEL_BUILD/dist, and prints its path. Needs what tests/setup/install.sh test installs,
# and once the network. $MLRUN_JOBS: compilers at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source-path=SCRIPTDIR source=../../tests/setup/packages.sh
source tests/setup/packages.sh

build=$(realpath -m "${MLRUN_WHEEL_BUILD:-build-wheel}")
readonly build
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
if [[ ! -f $build/link/libtomlplusplus.a || -n $(find runner/wheel -newer "$build/link/libtomlplusplus.a") ]]; then
  runner/wheel/link_files.sh "$build/link" >&2
fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING -DMLRUN_TESTS=OFF "-DMLRUN_PORTABLE=$build/link" >&2
ninja -C "$build" -j "${MLRUN_JOBS:-$(nproc)}" --quiet >&2

rm -rf "$build"/{prefix,python,licenses,dist}
cmake --install "$build" --component Unspecified --prefix "$build/prefix" --strip >/dev/null
cmake --install "$build" --component doc --prefix "$build/prefix" >/dev/null
cmake --install "$build" --component python --prefix "$build/python" >/dev/null

# Those of mlrun and of all that became part of it.
mkdir "$build/licenses"
cp LICENSE "$build/licenses"
for package in gcc-12-base libbz2-dev liblzma-dev "${debian_compile[@]}"; do
  if [[ $package == gcc-12-base || $package == *-dev ]]; then cp -L "/usr/share/doc/$package/copyright" "$build/licenses/$package"; fi
done
cp .venv/src/LICENSE "$build/licenses/simdjson"
cat .venv/lib/python3*/site-packages/pyarrow-*.dist-info/licenses/*.txt >"$build/licenses/pyarrow"

(cd "$build" && "$OLDPWD/.venv/bin/python" -m hatchling build -t wheel >&2)
printf '%s\n' "$build"/dist/*.whl
