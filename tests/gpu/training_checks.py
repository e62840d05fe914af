# SPDX-License-Identifier: Apache-2.0
"""What recording a training on the GPU costs, for `run`: the time of its loop with and without mlrun, in turn. Two kinds: one that
keeps the GPU busy, and one of small kernels, whose time is that of launching them."""

import sys
from statistics import median

from checking import CLOCK, last_line, ran

PAIRS = 5
# A small convolutional network on data of the GPU; prints the seconds of the loop, behind some steps to warm up.
PROGRAM = """
import json, sys, time
import torch
images, side, steps = map(int, sys.argv[1:])
torch.manual_seed(1)
layers = [torch.nn.Conv2d(3, 64, 3, padding=1)]
for _ in range(8):
    layers += [torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64)]
net = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10)).cuda()
optimiser = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
x, y = torch.randn(images, 3, side, side, device="cuda"), torch.randint(10, (images,), device="cuda")
def train(steps):
    for _ in range(steps):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimiser.step()
    torch.cuda.synchronize()
train(20)
begin = time.perf_counter()
train(steps)
print(json.dumps({"seconds": time.perf_counter() - begin}))
"""
KINDS = {"of_a_busy_gpu": (128, 64, 300), "of_small_kernels": (8, 8, 1000)}


def check_training(mlrun, folder, kind):
    """Pairs for as long as there is time; the order within a pair alternates."""
    ratios, seconds = [], {"untraced": [], "traced": []}
    for number in range(PAIRS):
        if CLOCK.left_s() < 60:
            break
        ways = [("untraced", []), ("traced", [mlrun, "--preload", "--cupti=require", "--quiet", "-o", f"{folder}/{kind}-{number}", "--"])]
        for way, before in reversed(ways) if number % 2 else ways:
            out, said = last_line(ran([*before, sys.executable, "-c", PROGRAM, *KINDS[kind]]))
            if out is None:
                raise RuntimeError(f"{way}: {said}")
            seconds[way].append(out["seconds"])
        ratios.append(seconds["traced"][-1] / seconds["untraced"][-1])
    return {"pairs": len(ratios), "ratio": median(ratios) if ratios else None, "ratios": ratios, "seconds": seconds, "agrees": None}


def training_checks(mlrun, folder):
    """Checks for checking.Report."""
    return [(f"cost_of_a_training_{kind}", lambda kind=kind: check_training(mlrun, folder, kind)) for kind in KINDS]
