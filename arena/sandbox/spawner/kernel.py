"""Calls of the Linux kernel that Python does not offer."""

import ctypes
import os
from typing import Final

_libc: Final = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS: Final = 0x0002_0000
CLONE_NEWUSER: Final = 0x1000_0000
MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_REMOUNT: Final = 32
MS_NOATIME: Final = 1024
MS_BIND: Final = 4096
MS_REC: Final = 16_384
MS_SLAVE: Final = 1 << 19
MNT_DETACH: Final = 2

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_SECCOMP: Final = 22
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2

LANDLOCK_CREATE_RULESET: Final = 444
LANDLOCK_ADD_RULE: Final = 445
LANDLOCK_RESTRICT_SELF: Final = 446
"""Numbers of system calls, the same on all machines."""


def unshare(flags: int) -> None:
    """Move this process into new namespaces. Raises `OSError` if the kernel refuses."""
    _require(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount a file system, or bind a path to another. Raises `OSError` if the kernel refuses."""
    done = _libc.mount(
        source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode()
    )
    _require(done, f"mount {target}")


def unmount(target: str) -> None:
    """Remove a mount, at the latest when no process uses it. Raises `OSError` if the kernel refuses."""
    _require(_libc.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")


def die_with_parent(number: int) -> None:
    """Send this process a signal when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parents end."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def gain_no_privileges() -> None:
    """Disable setuid programs for this process and its children, for good."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def filter_calls(program: bytes) -> None:
    """Install a seccomp filter for this process and all programs it executes."""
    buffer = ctypes.create_string_buffer(program, len(program))
    loaded = _Program(len(program) // 8, ctypes.addressof(buffer))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(loaded))


def call(number: int, *arguments: object) -> int:
    """Make a system call by its number. Raises `OSError` if the kernel refuses."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    _require(result, f"system call {number}")
    return result


def _prctl(option: int, *arguments: object) -> None:
    given = [
        argument if not isinstance(argument, int) else ctypes.c_ulong(argument)
        for argument in arguments
    ]
    given += [ctypes.c_ulong(0)] * (4 - len(given))
    _require(_libc.prctl(option, *given), f"prctl {option}")


def _require(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
