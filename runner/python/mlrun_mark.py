# SPDX-License-Identifier: Apache-2.0
"""Ranges and points in time that a program adds to its trace. Without mlrun they do nothing.

    import mlrun_mark
    with mlrun_mark.range("epoch 1"):
        ...
    mlrun_mark.instant("checkpoint written")

push() and pop() are for ranges that do not begin and end in one place; those of a thread nest.
"""

import contextlib
import typing

_push: typing.Any
_pop: typing.Any
_instant: typing.Any
try:
    import ctypes  # not in every interpreter, such as one inside another

    _library = ctypes.CDLL(None)
    _push, _pop, _instant = _library.mlrun_mark_push, _library.mlrun_mark_pop, _library.mlrun_mark_instant
    _push.argtypes = _instant.argtypes = [ctypes.c_char_p]
    _push.restype = _pop.restype = _instant.restype = None
except (AttributeError, ImportError):
    _push = _pop = _instant = None


def _bytes(name: object) -> bytes:
    """Converts any name to bytes without an error. An object that is neither text nor number is named by its type, so that its __str__ does not run."""
    if isinstance(name, bytes):
        return name
    text = name
    if not isinstance(text, str):
        text = str(name) if type(name) in (int, float, bool) else type(name).__name__
    try:
        return str.encode(text, "utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return str.encode(text, "utf-8", "backslashreplace")


def push(name: str) -> None:
    if _push is not None:
        _push(_bytes(name))


def pop() -> None:
    if _pop is not None:
        _pop()


def instant(name: str) -> None:
    if _instant is not None:
        _instant(_bytes(name))


@contextlib.contextmanager
def range(name: str) -> typing.Iterator[None]:  # pylint: disable=redefined-builtin
    push(name)
    try:
        yield
    finally:
        pop()
