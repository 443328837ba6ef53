"""Landlock, which limits the files of a process on machines without namespaces."""

import ctypes
import os
import stat
from collections.abc import Iterable
from typing import Final

from arena.sandbox.spawner import kernel

LEAST_VERSION: Final = 6
"""The first version that confines signals and abstract sockets (Linux 6.12)."""

_EXECUTE: Final = 1 << 0
_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
_TRUNCATE: Final = 1 << 14
_ALL_FILES: Final = (1 << 16) - 1  # as of version 5, with ioctl on devices
_ALL_TCP: Final = 0b11
_ALL_SCOPES: Final = 0b11  # abstract sockets, signals
_OF_A_FILE: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
_MAKE_DEVICES: Final = 1 << 6 | 1 << 11
_READ: Final = _EXECUTE | _READ_FILE | _READ_FOLDER
_GET_VERSION: Final = 1
_BENEATH: Final = 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock in this kernel; 0 if it has none."""
    try:
        flag = ctypes.c_uint32(_GET_VERSION)
        return kernel.call(kernel.LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), flag)
    except OSError:
        return 0


def confine(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str]) -> None:
    """Limit this process, and all programs it executes, to files below these paths.

    It can also open no TCP connection, and can signal and reach by abstract sockets only processes
    that are confined with it. Paths that do not exist are ignored.

    Raises `OSError` if the kernel refuses.
    """
    rules = _Ruleset(_ALL_FILES, _ALL_TCP, _ALL_SCOPES)
    ruleset = kernel.call(
        kernel.LANDLOCK_CREATE_RULESET,
        ctypes.byref(rules),
        ctypes.c_size_t(ctypes.sizeof(rules)),
        ctypes.c_uint32(0),
    )
    try:
        for path in readable:
            _allow(ruleset, path, _READ)
        for path in writable:
            _allow(ruleset, path, _ALL_FILES & ~_MAKE_DEVICES)
        for path in devices:
            _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
        kernel.gain_no_privileges()
        kernel.call(kernel.LANDLOCK_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            allowed &= _OF_A_FILE
        rule = _Beneath(allowed, parent)
        kernel.call(
            kernel.LANDLOCK_ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(parent)
