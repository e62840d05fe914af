# SPDX-License-Identifier: Apache-2.0
# The one list of what mlrun needs besides a bare Debian 12: Debian packages by name, Python packages by exact version.
# Levels: `compile` makes mlrun, `build` also runs the demonstration, `test` adds what the tests use; on top of `test`, `bench` adds the
# peers that tests/bench compares with, `cluster` adds a Slurm, which tests/sweep runs with two nodes on one machine, and `harmless` adds large programs that tests/harmless and tests/real_programs run where they are there (on
# a system of yours Debian starts the servers among them). Read by install.sh, which also keys its stamp by it.
# shellcheck shell=bash disable=SC2034

readonly levels=(compile build test bench cluster harmless)

readonly debian_compile=(
  bpftool ca-certificates ccache clang cmake g++ libboost-dev libbpf-dev libcli11-dev libdw-dev libelf-dev libevent-dev libexpected-dev
  libfmt-dev libiberty-dev libopen-trace-format2-dev libprotozero-dev libseccomp-dev libspdlog-dev libsqlite3-dev libsqlitecpp-dev libtomlplusplus-dev libzstd-dev ninja-build nlohmann-json3-dev pkg-config python3-venv zlib1g-dev
)
readonly debian_build=()
readonly debian_test=(
  blktrace btrfs-progs busybox-static bzip2 clang-format cpio debian-archive-keyring dmsetup e2fsprogs f2fs-tools fio
  gcc-multilib git iproute2 kmod less libbenchmark-dev libbz2-dev libclang-rt-14-dev libfaketime libgmock-dev libgoogle-perftools-dev libgtest-dev
  libjemalloc-dev libmemkind0 libmimalloc-dev libpython3.11-testsuite linux-perf make mdadm ndctl numactl openssl patchelf procps qemu-system-x86 rsync shellcheck sqlite3 strace sysstat
  systemtap-sdt-dev time unzip util-linux xfsprogs xz-utils zip zstd
)
readonly debian_bench=(babeltrace2 bpftrace heaptrack liblttng-ust1 lttng-tools uftrace)
readonly debian_cluster=(munge slurm-wlm)
readonly debian_harmless=(chromium default-jdk-headless nodejs postgresql redis-server redis-tools)

# Versions of Python that Debian 12 does not have, whose stacks mlrun reads; pythons.sh unpacks them, without installing.
readonly interpreters=(3.14 3.15)

# PyArrow is also what mlrun-trace is linked with.
readonly python_compile=(pyarrow==26.0.1)
readonly python_build=(numpy==2.4.6 torch==2.13.0)
# Its source archive holds simdjson as one file. Debian has simdjson as a shared library alone, whose names PyArrow's libparquet defines
# too, for another version.
readonly simdjson_source=pysimdjson==7.0.2
readonly python_test=(
  auditwheel==6.8.2 clang-tidy==23.1.4 darshan==3.5.0 duckdb==2.0.0 hatchling==1.33.0 lizard==1.24.3 matplotlib==3.11.2 mcp==2.3.0 nvidia-cuda-cupti-cu12==12.9.79 nvidia-cuda-cupti==13.0.85
  ipykernel==7.4.0 mypy==2.4.1 nbclient==0.11.0 nbformat==5.11.1 nvidia-nvtx==13.5.25 nvtx==0.2.17 otf2==3.2 pandas-stubs==3.1.0.261029 pandas==3.1.1 perfetto==0.59.1 polars==2.1.0 prometheus_client==0.26.0 protobuf==7.36.2 ruff==0.17.6 scipy==1.17.1 statsmodels==0.15.0
)
readonly python_cluster=()
readonly python_harmless=(
  Pillow==13.0.0 aiofiles==25.1.0 av==18.1.0 datasets==5.2.0 distributed==2026.8.0 fsspec==2026.9.0 h5py==3.16.0 joblib==1.6.0 lmdb==3.0.0
  pyspark==4.3.0 safetensors==0.8.0 scikit-learn==1.9.1 tensorstore==0.1.86 uvloop==0.23.0 viztracer==1.1.1 webdataset==1.0.2 xgboost==3.2.0 zarr==3.1.6
)
readonly python_bench=(memray==1.20.0 dftracer==2.2.0)
