# SPDX-License-Identifier: Apache-2.0
"""Reads a data set of case_NNNNN_x.npy / case_NNNNN_y.npy pairs (see make_kits.py) for training and evaluation."""

import numpy as np
import torch
from torch.utils.data import Dataset

FOREGROUND_SHARE = 0.4  # of the crops, centred on a labelled voxel: most of a volume is background


class UnusableData(Exception):
    """The data folder cannot be trained on."""


def find_cases(folder, crop):
    """The sorted (x, y) paths of all cases. Every volume must hold a crop of crop x crop x crop voxels."""
    cases = [(x, x.with_name(x.name.replace("_x.npy", "_y.npy"))) for x in sorted(folder.glob("case_*_x.npy"))]
    if not cases:
        raise UnusableData(f"{folder} holds no case_NNNNN_x.npy; make a data set with make_kits.py --out {folder}")
    for x, y in cases:
        if not y.exists():
            raise UnusableData(f"{y} is missing; make the data set again with make_kits.py")
        try:
            shape = np.load(x, mmap_mode="r").shape
        except (OSError, ValueError) as error:
            raise UnusableData(f"{x} is not a NumPy array: {error}") from error
        if len(shape) != 4 or min(shape[1:]) < crop:
            raise UnusableData(f"{x} has the shape {shape}, too small for a crop of {crop}; use a smaller --size")
    return cases


def split_cases(cases):
    """(training, evaluation): every eighth case, and at least the last one, is for evaluation."""
    evaluation = cases[7::8] or cases[-1:]
    return [case for case in cases if case not in evaluation], evaluation


class Volumes(Dataset):
    """Whole volumes with their labels, for evaluation."""

    def __init__(self, cases):
        self.cases = cases

    def __len__(self):
        return len(self.cases)

    def __getitem__(self, index):
        x_path, y_path = self.cases[index]
        return torch.from_numpy(np.load(x_path)), torch.from_numpy(np.load(y_path))


class Crops(Volumes):
    """Random crops, flipped and with some noise, for training: reads a whole volume for each, as MLPerf's does."""

    def __init__(self, cases, crop, crops_per_case):
        super().__init__(cases * crops_per_case)
        self.crop = crop

    def __getitem__(self, index):
        volume, labels = super().__getitem__(index)
        corner = self._corner(labels)
        window = (slice(None), *(slice(start, start + self.crop) for start in corner))
        flipped = [axis for axis in (1, 2, 3) if torch.rand(()) < 0.5]
        volume, labels = volume[window].flip(flipped), labels[window].flip(flipped)
        return volume + torch.randn(volume.shape) * 0.05, labels[0].long()

    def _corner(self, labels):
        last = [edge - self.crop for edge in labels.shape[1:]]
        if torch.rand(()) >= FOREGROUND_SHARE:
            return [int(torch.randint(0, limit + 1, ())) for limit in last]
        foreground = labels[0].nonzero()
        centre = foreground[torch.randint(0, len(foreground), ())].tolist()
        return [min(max(middle - self.crop // 2, 0), limit) for middle, limit in zip(centre, last)]
