#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small 3-D U-Net on a KiTS-like data set, in the manner of MLPerf's unet3d, on the CPU.

Each training sample is one random crop of one volume; a DataLoader's worker processes read the files. After every epoch
the model is evaluated on whole volumes. Started by torchrun, the ranks share the training over gloo.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import kits
import torch
import torch.distributed as dist
import unet
from mllog import open_log
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

QUICK = {"epochs": 2, "size": 16, "channels": 4, "crops_per_case": 2}
# More loading processes than cores are fine: they wait for files most of the time.
warnings.filterwarnings("ignore", message="This DataLoader will create")

LEARNING_RATE = 3e-3
EXAMPLES = """examples:
  make_kits.py --out /tmp/kits
  train.py --data /tmp/kits                                         4 forked workers, 4 epochs
  train.py --data /tmp/kits --start-method spawn --workers 2
  train.py --data /tmp/kits --quick --mllog /tmp/train.log          seconds, for a test
  train.py --data /tmp/kits --checkpoint-dir /tmp/out --checkpoint-epochs 2,4
  torchrun --standalone --nproc_per_node 2 train.py --data /tmp/kits --workers 2
"""


def epoch_list(text):
    try:
        epochs = {int(item) for item in text.split(",")}
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of epochs such as 2,4") from None
    return epochs


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def not_negative(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def make_parser():
    parser = argparse.ArgumentParser(description="Train a small 3-D U-Net on a KiTS-like data set.", epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, required=True, metavar="DIR", help="folder of case_NNNNN_x.npy and _y.npy (make_kits.py)")
    add("--epochs", type=positive, default=4, metavar="N", help="times over the training cases (4)")
    add("--batch-size", type=positive, default=2, metavar="N", help="crops in a step of one rank (2)")
    add("--size", type=positive, default=32, metavar="N",
        help=f"edge of a crop in voxels, a multiple of {unet.EDGE_MULTIPLE} (32)")
    add("--channels", type=positive, default=6, metavar="N", help="channels of the first level (6)")
    add("--crops-per-case", type=positive, default=2, metavar="N", help="crops of each case in an epoch (2)")
    add("--workers", type=not_negative, default=4, metavar="N",
        help="processes that load training data; 0 loads in the training process (4)")
    add("--eval-workers", type=not_negative, default=0, metavar="N", help="the same for evaluation (0)")
    add("--start-method", choices=("fork", "spawn"), default="fork",
        help="how workers start (fork); spawned ones are kept from epoch to epoch, since each imports PyTorch again")
    add("--checkpoint-dir", type=Path, metavar="DIR", help="folder for epoch_NNN.pt; without it none is written")
    add("--checkpoint-epochs", type=epoch_list, metavar="LIST", help="epochs to write, such as 2,4 (the last one)")
    add("--mllog", type=Path, metavar="FILE", help="write the :::MLLOG lines to this file too")
    add("--threads", type=positive, metavar="N", help="threads that compute (one rank's share of the cores, less one)")
    add("--seed", type=not_negative, default=1, metavar="N", help="seed of all random numbers (1)")
    add("--quick", action="store_true", help="a small preset for tests: "
        + ", ".join(f"--{name.replace('_', '-')} {value}" for name, value in QUICK.items()))
    return parser


def parse_arguments(arguments):
    parser = make_parser()
    if parser.parse_known_args(arguments)[0].quick:
        parser.set_defaults(**QUICK)  # whatever is named explicitly still wins
    options = parser.parse_args(arguments)
    if options.size % unet.EDGE_MULTIPLE:
        parser.error(f"--size {options.size}: use a multiple of {unet.EDGE_MULTIPLE}")
    if options.checkpoint_epochs and not options.checkpoint_dir:
        parser.error("--checkpoint-epochs needs --checkpoint-dir DIR")
    beyond = sorted(epoch for epoch in options.checkpoint_epochs or () if not 1 <= epoch <= options.epochs)
    if beyond:
        parser.error(f"--checkpoint-epochs {beyond[0]}: the training has epochs 1 to {options.epochs}")
    options.checkpoint_epochs = options.checkpoint_epochs or {options.epochs}
    return options


def default_threads(workers, ranks):
    """A rank's share of the cores, less one for its workers: OpenMP's threads spin while one of them has no core."""
    share = len(os.sched_getaffinity(0)) // ranks
    return max(1, share - (workers > 0))


def make_loader(dataset, workers, options, **more):
    parallel = {"multiprocessing_context": options.start_method,
                "persistent_workers": options.start_method == "spawn"} if workers else {}
    order = torch.Generator().manual_seed(options.seed)
    return DataLoader(dataset, num_workers=workers, generator=order, **parallel, **more)


def make_loaders(options, rank, ranks):
    """(training, evaluation). Ranks share the training by a sampler and the evaluation by cases."""
    training, evaluation = kits.split_cases(kits.find_cases(options.data, options.size))
    crops = kits.Crops(training, options.size, options.crops_per_case)
    if len(crops) < options.batch_size * ranks:
        raise kits.UnusableData(f"{options.data} gives {len(crops)} crops, fewer than one step of {ranks} x "
                                f"{options.batch_size} takes; use a smaller --batch-size or more --crops-per-case")
    sampler = DistributedSampler(crops, ranks, rank, seed=options.seed) if ranks > 1 else None
    return (make_loader(crops, options.workers, options, batch_size=options.batch_size, shuffle=sampler is None,
                        sampler=sampler, drop_last=True),
            make_loader(kits.Volumes(evaluation[rank::ranks]), options.eval_workers, options, batch_size=1))


def train_epoch(model, optimizer, loader):
    """Returns the mean loss of this rank's steps."""
    model.train()
    total = 0.0
    for volume, labels in loader:
        optimizer.zero_grad()
        step_loss = unet.loss(model(volume), labels)
        step_loss.backward()
        optimizer.step()
        total += step_loss.item()
    return total / len(loader)


@torch.no_grad()
def evaluate(model, loader, crop):
    """Returns the mean Dice of kidney and tumour over the cases of all ranks."""
    model.eval()
    sums = torch.zeros(2)  # of the scores, of the cases
    for volume, labels in loader:
        predicted = unet.predict(model, volume, crop)
        score = unet.dice_per_class(unet.one_hot(predicted), unet.one_hot(labels[:, 0].long())).mean()
        sums += torch.stack((score, torch.ones(())))
    if dist.is_initialized():
        dist.all_reduce(sums)
    return float(sums[0] / sums[1])


def save_checkpoint(folder, epoch, model, optimizer):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"epoch_{epoch:03d}.pt"
    unfinished = path.with_suffix(".tmp")
    torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, unfinished)
    unfinished.replace(path)


def run_epochs(options, log, network, optimizer, loaders):
    training, evaluation = loaders
    model = DistributedDataParallel(network) if dist.is_initialized() else network
    for epoch in range(1, options.epochs + 1):
        log.start("epoch_start", epoch_num=epoch)
        if isinstance(training.sampler, DistributedSampler):
            training.sampler.set_epoch(epoch)
        mean_loss = train_epoch(model, optimizer, training)
        log.end("epoch_stop", epoch_num=epoch)
        log.event("train_loss", round(mean_loss, 6), epoch_num=epoch)
        log.start("eval_start", epoch_num=epoch)
        accuracy = evaluate(network, evaluation, options.size)
        log.event("eval_accuracy", round(accuracy, 6), epoch_num=epoch)
        log.end("eval_stop", epoch_num=epoch)
        if options.checkpoint_dir and log.enabled and epoch in options.checkpoint_epochs:
            save_checkpoint(options.checkpoint_dir, epoch, network, optimizer)


def train(options, log, rank, ranks):
    log.event("submission_benchmark", "unet3d")
    log.start("init_start")
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads or default_threads(options.workers, ranks))
    loaders = make_loaders(options, rank, ranks)
    network = unet.UNet3d(options.channels)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    torch.manual_seed(options.seed + rank)  # the same weights everywhere, other crops on each rank
    for key, value in (("seed", options.seed), ("global_batch_size", options.batch_size * ranks),
                       ("train_samples", len(loaders[0].dataset)), ("eval_samples", len(loaders[1].dataset))):
        log.event(key, value)
    log.end("init_stop")
    log.start("run_start")
    run_epochs(options, log, network, optimizer, loaders)
    log.end("run_stop", status="success")


def main(arguments):
    options = parse_arguments(arguments)
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    if ranks > 1:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if ranks > 1 else 0
    try:
        with open_log(options.mllog, enabled=rank == 0) as log:
            train(options, log, rank, ranks)
    except (kits.UnusableData, OSError) as error:
        print(f"train.py: error: {error}", file=sys.stderr)
        return 1
    finally:
        if ranks > 1:
            dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
