# SPDX-License-Identifier: Apache-2.0
# The one list of what mlrun needs besides a bare Debian 12: Debian packages by name, Python packages by exact version.
# Three levels, each on top of the one before: `build` makes mlrun and runs the demonstration, `test` adds what the
# tests use, `bench` adds the peers that tests/bench compares with. Read by install.sh, which also keys its stamp by it.
# shellcheck shell=bash disable=SC2034

readonly levels=(build test bench)

readonly debian_build=(
  ca-certificates ccache cmake g++ libcli11-dev libexpected-dev libfmt-dev libspdlog-dev libzstd-dev ninja-build
  nlohmann-json3-dev pkg-config python3-venv
)
readonly debian_test=(
  busybox-static bzip2 clang clang-format clang-tidy cpio git libbenchmark-dev libgmock-dev libgtest-dev
  libseccomp-dev make openssl procps rsync shellcheck sqlite3 strace unzip util-linux xz-utils zip
)
readonly debian_bench=(heaptrack uftrace)

# PyArrow is also what mlrun-trace is linked with, so its version belongs to the build.
readonly python_build=(pyarrow==26.0.1 numpy==2.4.6 torch==2.13.0)
readonly python_test=(duckdb==2.0.0 lizard==1.24.3 pandas==3.1.1 ruff==0.17.6)
readonly python_bench=(memray==1.20.0 dftracer==2.2.0 matplotlib==3.11.2)
