#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in the guest and starts before mlrun. When GO appears it opens, reads and closes files at once, one after the other,
under names that change. Writes the path of each read to EXPECTED.
Only the kernel can report exactly what it opens: when /proc is read, it has exited.

Usage: short_opens.py FOLDER GO EXPECTED   FOLDER: on a disk, as attach_guest.sh has filled it"""

import os
import sys
import time

FOLDER, GO, EXPECTED = sys.argv[1:]
MANY, AGAIN, LATER = 300, 2000, 20
expected = []


def path_of(*names):
    return os.path.join(FOLDER, *names)


def read_from(fd, path):
    os.read(fd, 64)
    os.close(fd)
    expected.append(path)


def read(path, flags=os.O_RDONLY):
    read_from(os.open(path, flags), path)


def in_child(work):
    """What it reads is in the list as well."""
    came, go = os.pipe()
    child = os.fork()
    if child == 0:
        work()
        os.write(go, expected[-1].encode())
        os._exit(0)
    os.waitpid(child, 0)
    expected.append(os.read(came, 4096).decode())
    os.close(came)
    os.close(go)


def in_chroot():
    os.chroot(FOLDER)
    os.chdir("/")
    os.close(os.open("/inside", os.O_RDONLY | os.O_DIRECTORY))
    fd = os.open("inside/file", os.O_RDONLY)
    read_from(fd, path_of("inside", "file"))


def make_again(name):
    fd = os.open(path_of(name), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, b"x" * 64)
    os.lseek(fd, 0, os.SEEK_SET)
    read_from(fd, path_of(name))


def main():
    for number in range(MANY):
        read(path_of("many", f"f{number}"))
    for _ in range(AGAIN):
        read(path_of("many", "f0"))
    read(path_of("links", "one"))
    read(path_of("links", "two"))
    read(path_of("links", "one"))
    read(path_of("before"))
    os.rename(path_of("before"), path_of("after"))
    read(path_of("after"))
    read(path_of("folder", "below", "file"))
    os.rename(path_of("folder"), path_of("renamed"))
    read(path_of("renamed", "below", "file"))
    os.rename(path_of("renamed"), path_of("folder"))
    read(path_of("folder", "below", "file"))
    fd = os.open(path_of("gone"), os.O_RDONLY)
    os.unlink(path_of("gone"))
    read_from(fd, path_of("gone"))
    for name in ("new1", "new2", "new2"):  # mostly with the number of the one before
        make_again(name)
        os.unlink(path_of(name))
    read(path_of("bound", "f0"))
    read(path_of("many", "f0"))
    read(path_of("over", "file"))
    os.chdir(path_of("folder"))
    fd = os.open("below/file", os.O_RDONLY)
    read_from(fd, path_of("folder", "below", "file"))
    fd = os.open(path_of("x" * 255, "é\n"), os.O_RDONLY)
    read_from(fd, path_of("x" * 255, "é\n"))
    in_child(in_chroot)
    for number in range(LATER):
        make_again(f"later/{number}")


with open(f"{GO}.waits", "w", encoding="utf-8"):
    pass
while not os.path.exists(GO):
    time.sleep(0.1)
main()
with open(EXPECTED, "w", encoding="utf-8") as file:
    file.write("\0".join(expected))
