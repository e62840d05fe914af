# SPDX-License-Identifier: Apache-2.0
"""Ranges and points in time that a program adds to its trace. Without mlrun they do nothing.

    import mlrun_mark
    with mlrun_mark.range("epoch 1"):
        ...
    mlrun_mark.instant("checkpoint written")

push() and pop() are for ranges that do not begin and end in one place; those of a thread nest.
"""

import contextlib
import ctypes
import typing

_push: typing.Any
_pop: typing.Any
_instant: typing.Any
try:
    _library = ctypes.CDLL(None)
    _push, _pop, _instant = _library.mlrun_mark_push, _library.mlrun_mark_pop, _library.mlrun_mark_instant
    _push.argtypes = _instant.argtypes = [ctypes.c_char_p]
    _push.restype = _pop.restype = _instant.restype = None
except AttributeError:
    _push = _pop = _instant = None


def push(name: str) -> None:
    if _push is not None:
        _push(name.encode("utf-8", "surrogateescape"))


def pop() -> None:
    if _pop is not None:
        _pop()


def instant(name: str) -> None:
    if _instant is not None:
        _instant(name.encode("utf-8", "surrogateescape"))


@contextlib.contextmanager
def range(name: str) -> typing.Iterator[None]:  # pylint: disable=redefined-builtin
    push(name)
    try:
        yield
    finally:
        pop()
