# SPDX-License-Identifier: Apache-2.0
"""A small 3-D U-Net with its loss and its score. Volumes are (batch, 1, D, H, W), labels (batch, D, H, W)."""

import torch
from torch import nn
from torch.nn import functional

CLASSES = 3  # background, kidney, tumour
LEVELS = 3
EDGE_MULTIPLE = 2 ** (LEVELS - 1)  # every edge of an input is a multiple of this
WINDOWS_AT_ONCE = 8


def convolutions(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv3d(channels, outputs, 3, padding=1, bias=False), nn.InstanceNorm3d(outputs, affine=True),
                   nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class UNet3d(nn.Module):
    def __init__(self, base_channels):
        super().__init__()
        widths = [base_channels * 2**level for level in range(LEVELS)]
        self.down = nn.ModuleList(convolutions(i, o) for i, o in zip([1] + widths, widths))
        upwards = list(zip(widths[:0:-1], widths[-2::-1]))
        self.grow = nn.ModuleList(nn.ConvTranspose3d(deep, flat, 2, stride=2) for deep, flat in upwards)
        self.up = nn.ModuleList(convolutions(2 * flat, flat) for _, flat in upwards)
        self.head = nn.Conv3d(base_channels, CLASSES, 1)

    def forward(self, volume):
        skipped = []
        for level in self.down:
            volume = level(functional.max_pool3d(volume, 2) if skipped else volume)
            skipped.append(volume)
        skipped.pop()
        for grow, level in zip(self.grow, self.up):
            volume = level(torch.cat((grow(volume), skipped.pop()), 1))
        return self.head(volume)


def dice_per_class(probabilities, truth):
    """Dice of each class but the background, over the whole batch: 1 is a perfect overlap."""
    axes = (0, 2, 3, 4)
    overlap = (probabilities * truth).sum(axes)
    total = probabilities.sum(axes) + truth.sum(axes)
    return ((2 * overlap + 1e-6) / (total + 1e-6))[1:]


def one_hot(labels):
    return functional.one_hot(labels, CLASSES).movedim(-1, 1).float()


def loss(logits, labels):
    dice = dice_per_class(logits.softmax(1), one_hot(labels)).mean()
    return functional.cross_entropy(logits, labels) + 1 - dice


def predict(model, volume, crop):
    """Labels of one volume (1, 1, D, H, W) of any size, by windows of crop voxels an edge; needs every edge >= crop."""
    edges = volume.shape[2:]
    starts = [torch.tensor(sorted({*range(0, edge - crop, crop), edge - crop})) for edge in edges]
    corners = torch.cartesian_prod(*starts).tolist()
    windows = [tuple(slice(start, start + crop) for start in corner) for corner in corners]
    labels = torch.empty(1, *edges, dtype=torch.long)
    # Several at a time: PyTorch's convolution of a single small volume is the slow one.
    for first in range(0, len(windows), WINDOWS_AT_ONCE):
        some = windows[first : first + WINDOWS_AT_ONCE]
        predicted = model(torch.stack([volume[(0, slice(None), *window)] for window in some])).argmax(1)
        for window, part in zip(some, predicted):
            labels[(0, *window)] = part
    return labels
