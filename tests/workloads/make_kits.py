#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a small data set shaped like the preprocessed KiTS19 that MLPerf's unet3d trains on.

A case is a pair of files: case_NNNNN_x.npy, a float32 volume (1, depth, height, width), and case_NNNNN_y.npy, the
uint8 label of every voxel: 0 background, 1 kidney, 2 tumour. The volumes are noise with brighter ellipsoids, so that
there is something to learn. The same options always make the same bytes. kits.json holds the options; a folder that
has been made with the same ones is left alone. A folder appears whole or not at all.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

MANIFEST = "kits.json"
LAYOUT_VERSION = 1
EXAMPLES = """examples:
  make_kits.py --out /tmp/kits                          24 cases of about 64 x 64 x 64 voxels, 31 MiB
  make_kits.py --out /tmp/kits --cases 8 --size 32      a data set for a quick test, 1.3 MiB
"""


class UnusableFolder(Exception):
    """The folder asked for holds something that is not ours to replace."""


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description="Make a small KiTS-like data set.", epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to make")
    parser.add_argument("--cases", type=int, default=24, metavar="N", help="number of cases (24)")
    parser.add_argument("--size", type=int, default=64, metavar="N",
                        help="mean edge of a volume in voxels (64); each edge varies by up to an eighth")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of all random numbers (1)")
    options = parser.parse_args(arguments)
    if not 1 <= options.cases <= 99999:
        parser.error(f"--cases {options.cases}: use 1 to 99999")
    if not 8 <= options.size <= 1024:
        parser.error(f"--size {options.size}: use 8 to 1024")
    if options.seed < 0:
        parser.error(f"--seed {options.seed}: use 0 or more")
    return options


def ellipsoid(shape, centre, radii):
    """Mask of the voxels inside an ellipsoid, in voxel units."""
    axes = np.ogrid[tuple(slice(0, edge) for edge in shape)]
    return sum(((axis - c) / r) ** 2 for axis, c, r in zip(axes, centre, radii)) <= 1.0


def make_case(index, size, seed):
    """One volume and its labels. Every case has its own random stream, so cases do not depend on their number."""
    random = np.random.default_rng([seed, index])
    shape = tuple(random.integers(size - size // 8, size + size // 8 + 1, 3))
    edges = np.array(shape)
    labels = np.zeros(shape, np.uint8)
    for side in (0.3, 0.7):
        centre = edges * (np.array([0.5, 0.5, side]) + random.uniform(-0.05, 0.05, 3))
        labels[ellipsoid(shape, centre, edges * random.uniform(0.12, 0.2, 3))] = 1
    tumour_centre = edges * (np.array([0.5, 0.5, 0.3]) + random.uniform(-0.08, 0.08, 3))
    labels[ellipsoid(shape, tumour_centre, edges * random.uniform(0.06, 0.1, 3))] = 2
    brightness = np.array([0.0, 1.0, 2.0], np.float32)[labels]
    volume = brightness + random.normal(0.0, 0.5, shape).astype(np.float32)
    return volume[np.newaxis], labels[np.newaxis]


def case_paths(folder, index):
    return folder / f"case_{index:05d}_x.npy", folder / f"case_{index:05d}_y.npy"


def is_made(folder, manifest):
    try:
        found = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return False
    return found == manifest and all(path.exists() for i in range(manifest["cases"]) for path in case_paths(folder, i))


def publish(made, out):
    """Puts the finished folder in place of an older data set, if there is one."""
    if not out.exists():
        made.rename(out)
        return
    older = made.with_name(made.name + ".older")
    out.rename(older)
    made.rename(out)
    shutil.rmtree(older)


def make_data_set(out, manifest):
    if out.exists() and not (out / MANIFEST).exists() and (not out.is_dir() or any(out.iterdir())):
        raise UnusableFolder(f"{out} exists and is not a data set of this script; choose another --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=out.name + ".", dir=out.parent))
    try:
        made.chmod(0o755)
        for index in range(manifest["cases"]):
            for path, array in zip(case_paths(made, index), make_case(index, manifest["size"], manifest["seed"])):
                np.save(path, array)
        (made / MANIFEST).write_text(json.dumps(manifest) + "\n")
        publish(made, out)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def main(arguments):
    options = parse_arguments(arguments)
    out = Path(os.path.abspath(options.out))
    manifest = {"version": LAYOUT_VERSION, "cases": options.cases, "size": options.size, "seed": options.seed}
    if is_made(out, manifest):
        print(f"make_kits: {out} is there already")
        return 0
    try:
        make_data_set(out, manifest)
    except (OSError, UnusableFolder) as error:
        print(f"make_kits: error: {error}", file=sys.stderr)
        return 1
    size_bytes = sum(path.stat().st_size for path in out.iterdir())
    print(f"make_kits: made {options.cases} cases, {size_bytes / 2**20:.1f} MiB, in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
