"""The seccomp filter of bots, as a program of classic BPF.

It allows files, threads, processes and Unix sockets. It refuses calls that reach into the kernel or other processes,
and all calls that are newer than the filter. All bots read the same files of the system, so it also refuses calls that
leave a trace on a file that is open for reading, or change a count of the whole machine: such a trace or count is a
channel between bots.
"""

import errno
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

_LOAD: Final = 0x20  # a word of the call's data: number, machine or an argument
_IF_EQUAL: Final = 0x15
_IF_GREATER: Final = 0x25
_IF_ANY_BIT: Final = 0x45
_AND: Final = 0x54
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
"""TIOCSTI and TIOCLINUX, which insert input at a terminal as if its user typed it."""
_TYPE_OF_IOCTL: Final = 0xFF00
_ALLOWED_IOCTLS: Final = (0x5400, 0x8900)
"""The types of requests to terminals, pipes and sockets. File systems have others; some of them mark
a file that was opened for reading until it leaves the memory."""
_ALLOWED_FCNTL: Final = (*range(5), *range(8, 12), 15, 16, *range(1030, 1035))
"""Commands about descriptors, signals, pipes and files in memory. The rest are locks, leases,
notifications and hints, which openers of the same file can see."""
_RWF_NOWAIT: Final = 8
"""The flag of `preadv2` that shows whether a part of a file is in memory."""
_REFUSED_ADVICE: Final = (12, 20, 21)
"""MADV_MERGEABLE, MADV_COLD and MADV_PAGEOUT, which act on memory that is shared with others."""
_SOL_SOCKET: Final = 1
_SO_SNDBUF: Final = 7
_SO_ATTACH: Final = (26, 50, 51, 52)
"""The options that attach a filter to a socket, which may be as large as its buffer."""
_LAST_KNOWN: Final = 470
"""The highest number of a call when this filter was written."""


_MACHINES: Final[Mapping[str, tuple[int, int]]] = {
    "x86_64": (0xC000_003E, 0),
    "aarch64": (0xC000_00B7, 1),
}
"""Each machine's number, AUDIT_ARCH_* of <linux/audit.h>, and its column in the tables below."""

# fmt: off
REFUSED: Final[Mapping[str, tuple[int | None, int | None]]] = {
    # Other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    # The kernel.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "init_module": (175, 105), "delete_module": (176, 106), "finit_module": (313, 273),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "syslog": (103, 116),
    "personality": (135, 92), "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None),
    "uselib": (134, None), "ustat": (136, None), "sysfs": (139, None), "sysctl": (156, None),
    # Traces on shared files.
    "flock": (73, 32), "fanotify_mark": (301, 263), "inotify_init": (253, None),
    "inotify_init1": (294, 26), "inotify_add_watch": (254, 27), "inotify_rm_watch": (255, 28),
    "mincore": (27, 232), "cachestat": (451, 451), "move_pages": (279, 239),
    "migrate_pages": (256, 238), "mbind": (237, 235), "get_mempolicy": (239, 236),
    # Counts of the whole machine or of its file systems.
    "sysinfo": (99, 179), "statfs": (137, 43), "fstatfs": (138, 44), "io_setup": (206, 0),
    # Memory and queues of other processes, which have no namespace at S1.
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180),
    # Memory that no process has mapped, so that it is not counted: files and rules.
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    # File systems and namespaces.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "statmount": (457, 457), "listmount": (458, 458), "open_tree_attr": (467, 467),
    "unshare": (272, 97), "setns": (308, 268), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # The machine. Kernels share the processor among sessions, and a bot has one.
    "setsid": (112, 157),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "acct": (163, 89),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
}
_PAGES: Final = ((40, 71), (275, 76), (276, 77), (278, 75))
"""`sendfile`, `splice`, `tee` and `vmsplice`, by which a pipe or a socket keeps a whole page, or a huge one, for
each byte. Programs copy where these fail with EINVAL."""
_SOCKET: Final = (41, 198)
_SOCKETPAIR: Final = (53, 199)
_CLONE: Final = (56, 220)
_CLONE3: Final = (435, 435)
_IOCTL: Final = (16, 29)
_FCNTL: Final = (72, 25)
_FADVISE: Final = (221, 223)
_MADVISE: Final = (28, 233)
_PREADV2: Final = (327, 286)
_SETSOCKOPT: Final = (54, 208)
# fmt: on


class NoFilter(Exception):
    """There is no filter for this kind of machine."""


def filter_program(machine: str) -> bytes:
    """Return the filter for a machine, named as `platform.machine()` does.

    Raises `NoFilter` if there is no filter for it.
    """
    known = _MACHINES.get(machine)
    if known is None:
        raise NoFilter(f"there is no seccomp filter for {machine} machines")
    return b"".join(_instructions(*known))


def _instructions(machine: int, column: int) -> Iterator[bytes]:
    yield _do(_LOAD, _MACHINE_AT)
    yield _do(_IF_EQUAL, machine, 1, 0)
    yield _do(_RETURN, _KILL)
    yield _do(_LOAD, _NUMBER_AT)
    # This includes all calls of x32, whose numbers have an additional high bit.
    yield from _unless(_IF_GREATER, _LAST_KNOWN, errno.ENOSYS)
    # The flags of clone3 are in memory, which a filter cannot read; libraries fall back to `clone`.
    yield from _unless(_IF_EQUAL, _CLONE3[column], errno.ENOSYS)
    for call in REFUSED.values():
        refused = call[column]
        if refused is not None:
            yield from _unless(_IF_EQUAL, refused, errno.EPERM)
    for call in _PAGES:
        yield from _unless(_IF_EQUAL, call[column], errno.EINVAL)
    for sockets in (_SOCKET, _SOCKETPAIR):
        yield from _only(
            sockets[column],
            [
                _do(_LOAD, _ARGUMENTS_AT),
                *_one_of((_AF_UNIX,)),
                _do(_RETURN, _REFUSE | errno.EAFNOSUPPORT),
            ],
        )
    yield from _only(
        _CLONE[column], [_do(_LOAD, _ARGUMENTS_AT), *_unless(_IF_ANY_BIT, _NAMESPACES, errno.EPERM)]
    )
    # Advice to drop a shared file from memory is ignored: the next reader would notice.
    yield from _unless(_IF_EQUAL, _FADVISE[column], 0)
    yield from _only(
        _FCNTL[column],
        [
            _do(_LOAD, _ARGUMENTS_AT + 8),
            *_one_of(_ALLOWED_FCNTL),
            _do(_RETURN, _REFUSE | errno.EPERM),
        ],
    )
    yield from _only(
        _MADVISE[column],
        [
            _do(_LOAD, _ARGUMENTS_AT + 16),
            *(
                instruction
                for advice in _REFUSED_ADVICE
                for instruction in _unless(_IF_EQUAL, advice, errno.EINVAL)
            ),
        ],
    )
    yield from _only(
        _PREADV2[column],
        [_do(_LOAD, _ARGUMENTS_AT + 40), *_unless(_IF_ANY_BIT, _RWF_NOWAIT, errno.EOPNOTSUPP)],
    )
    yield from _only(
        _IOCTL[column],
        [
            _do(_LOAD, _ARGUMENTS_AT + 8),
            *(
                instruction
                for order in _TERMINAL_INPUT
                for instruction in _unless(_IF_EQUAL, order, errno.EPERM)
            ),
            _do(_AND, _TYPE_OF_IOCTL),
            *_one_of(_ALLOWED_IOCTLS),
            _do(_RETURN, _REFUSE | errno.ENOTTY),
        ],
    )
    size_and_filters = (
        _do(_LOAD, _ARGUMENTS_AT + 16),
        # The size of a buffer stays as it is: the memory watch counts sockets of that size.
        *_unless(_IF_EQUAL, _SO_SNDBUF, 0),
        *(
            instruction
            for option in _SO_ATTACH
            for instruction in _unless(_IF_EQUAL, option, errno.EPERM)
        ),
    )
    yield from _only(
        _SETSOCKOPT[column],
        [
            _do(_LOAD, _ARGUMENTS_AT + 8),
            _do(_IF_EQUAL, _SOL_SOCKET, 0, len(size_and_filters)),
            *size_and_filters,
        ],
    )
    yield _do(_RETURN, _ALLOW)


def _only(number: int, check: Sequence[bytes]) -> Iterator[bytes]:
    """Check the arguments of one call; a call that the check does not refuse is allowed."""
    yield _do(_IF_EQUAL, number, 0, len(check) + 1)
    yield from check
    yield _do(_RETURN, _ALLOW)


def _one_of(values: Iterable[int]) -> Iterator[bytes]:
    """Allow the call if the loaded word is one of these; otherwise continue."""
    for value in values:
        yield _do(_IF_EQUAL, value, 0, 1)
        yield _do(_RETURN, _ALLOW)


def _unless(test: int, value: int, error: int) -> Iterator[bytes]:
    """Refuse the call with an error if the loaded word passes a test; otherwise continue."""
    yield _do(test, value, 0, 1)
    yield _do(_RETURN, _REFUSE | error)


def _do(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return an instruction; `if_true` and `if_false` are the numbers of instructions to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
