"""Lets a test meet permission errors even where the tests are run by root."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def without_privileges() -> Iterator[None]:
    """Make file permissions hold for this thread, as they do for everybody but root (capabilities(7))."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(_VERSION_3, 0), (_Sets * 2)()
    _check(libc.capget(ctypes.byref(header), sets))
    before = sets[0].effective
    sets[0].effective = before & ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH)
    _check(libc.capset(ctypes.byref(header), sets))
    try:
        yield
    finally:
        sets[0].effective = before
        _check(libc.capset(ctypes.byref(header), sets))


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
