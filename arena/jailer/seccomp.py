"""Which system calls a bot may make: a filter of seccomp, as a program of classic BPF.

What a bot needs is open: files, threads, processes, sockets of this machine. What is a door
into the kernel or to other processes is shut, as is what the filter does not know.
"""

import errno
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_LOAD: Final = 0x20  # a word of what the call is: its number, its machine, its arguments
_IF_EQUAL: Final = 0x15
_IF_GREATER: Final = 0x25
_IF_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF_0000
_REFUSE: Final = 0x0005_0000
_KILL: Final = 0x8000_0000

_NUMBER_AT: Final = 0
_MACHINE_AT: Final = 4
_ARGUMENTS_AT: Final = 16

_AF_UNIX: Final = 1
_NAMESPACES: Final = 0x7E02_0080
"""All the flags of `clone` that make namespaces: mount, cgroup, uts, ipc, user, pid, net, time."""
_TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: they type at a terminal, as if its user did."""
_LAST_KNOWN: Final = 470
"""Calls with higher numbers came after this filter was written."""


@dataclass(frozen=True, slots=True)
class _Machine:
    name: int
    """As AUDIT_ARCH_* of <linux/audit.h>."""
    column: int
    """In the table of numbers."""


_MACHINES: Final[Mapping[str, _Machine]] = {
    "x86_64": _Machine(0xC000_003E, 0),
    "aarch64": _Machine(0xC000_00B7, 1),
}

# fmt: off
_REFUSED: Final[Mapping[str, tuple[int | None, int | None]]] = {
    # Other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    # Doors into the kernel.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "init_module": (175, 105), "delete_module": (176, 106), "finit_module": (313, 273),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "syslog": (103, 116),
    "personality": (135, 92), "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None),
    "uselib": (134, None), "ustat": (136, None), "sysfs": (139, None), "sysctl": (156, None),
    # File systems and namespaces.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "statmount": (457, 457), "listmount": (458, 458), "open_tree_attr": (467, 467),
    "unshare": (272, 97), "setns": (308, 268), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # The machine.
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "acct": (163, 89),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
}
_SOCKET: Final = (41, 198)
_SOCKETPAIR: Final = (53, 199)
_CLONE: Final = (56, 220)
_CLONE3: Final = (435, 435)
_IOCTL: Final = (16, 29)
# fmt: on


class NoFilter(Exception):
    """There is no filter for this kind of machine. The text says so."""


def filter_program(machine: str) -> bytes:
    """The filter for a machine, as `platform.machine()` names it.

    Raises:
      NoFilter: if there is none.
    """
    known = _MACHINES.get(machine)
    if known is None:
        raise NoFilter(f"there is no seccomp filter for {machine} machines")
    return b"".join(_instructions(known))


def _instructions(machine: _Machine) -> Iterator[bytes]:
    def number(of: tuple[int | None, int | None]) -> int:
        found = of[machine.column]
        assert found is not None
        return found

    yield _do(_LOAD, _MACHINE_AT)
    yield _do(_IF_EQUAL, machine.name, 1, 0)
    yield _do(_RETURN, _KILL)
    yield _do(_LOAD, _NUMBER_AT)
    # Among them all calls of x32, which have the same numbers and a bit more.
    yield from _unless(_IF_GREATER, _LAST_KNOWN, errno.ENOSYS)
    # Its flags lie in memory, where no filter sees them; libraries then take `clone`.
    yield from _unless(_IF_EQUAL, number(_CLONE3), errno.ENOSYS)
    for each in _REFUSED.values():
        refused = each[machine.column]
        if refused is not None:
            yield from _unless(_IF_EQUAL, refused, errno.EPERM)
    for each in (_SOCKET, _SOCKETPAIR):
        yield _do(_IF_EQUAL, number(each), 0, 4)
        yield _do(_LOAD, _ARGUMENTS_AT)
        yield _do(_IF_EQUAL, _AF_UNIX, 0, 1)
        yield _do(_RETURN, _ALLOW)
        yield _do(_RETURN, _REFUSE | errno.EAFNOSUPPORT)
    yield _do(_IF_EQUAL, number(_CLONE), 0, 4)
    yield _do(_LOAD, _ARGUMENTS_AT)
    yield _do(_IF_ANY_BIT, _NAMESPACES, 0, 1)
    yield _do(_RETURN, _REFUSE | errno.EPERM)
    yield _do(_RETURN, _ALLOW)
    yield _do(_IF_EQUAL, number(_IOCTL), 0, 2 * len(_TERMINAL_INPUT) + 2)
    yield _do(_LOAD, _ARGUMENTS_AT + 8)
    for order in _TERMINAL_INPUT:
        yield from _unless(_IF_EQUAL, order, errno.EPERM)
    yield _do(_RETURN, _ALLOW)
    yield _do(_RETURN, _ALLOW)


def _unless(test: int, value: int, error: int) -> Iterator[bytes]:
    """Refuse the call with an error if a test holds of what was loaded; else go on."""
    yield _do(test, value, 0, 1)
    yield _do(_RETURN, _REFUSE | error)


def _do(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """An instruction: the jumps skip so many of those that follow."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
