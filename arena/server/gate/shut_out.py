"""Addresses that are shut out: the kernel drops what they send to where the arena listens.

Who is only cut comes back at once, and each time has what it sends until the next look. A socket may
have a filter, a classic BPF program that sees each packet before the socket does; on one that listens those
are the openings of connections, and a dropped one costs the arena nothing. A connection inherits
the filter that there was when it was opened, which lets it through: its address was not shut out.

Source: Linux, `Documentation/networking/filter.rst`.
"""

import ctypes
import ipaddress
import logging
import socket
import struct
from collections.abc import Callable, Collection, Iterator
from typing import Final, TypeAlias

MOST: Final = 200
"""Addresses that are shut out at a time; the kernel allows a socket so much memory for its filter."""

ShutOut: TypeAlias = Callable[[Collection[str]], bool]
"""Shuts out these addresses or networks, and no others any more; gives whether the system does that."""
Listening: TypeAlias = Callable[[], Iterator[socket.socket]]

_log = logging.getLogger(__name__)

_SO_ATTACH_FILTER: Final = 26
_SO_DETACH_FILTER: Final = 27
_INSTRUCTION: Final = struct.Struct("=HBBI")
_PROGRAM: Final = struct.Struct("@HP")

# What the instructions do (linux/bpf_common.h), with A for the accumulator.
_LOAD_WORD, _LOAD_BYTE = 0x20, 0x30
_SHIFT_RIGHT, _JUMP, _JUMP_IF_EQUAL, _RETURN = 0x74, 0x05, 0x15, 0x06
_NETWORK_HEADER: Final = 0xFFF0_0000
_VERSION_SHIFT: Final = 4
_SOURCE_4: Final = _NETWORK_HEADER + 12
_SOURCE_6: Final = _NETWORK_HEADER + 8
_KEEP, _DROP = 0xFFFF_FFFF, 0

_Instruction: TypeAlias = tuple[int, int, int, int]
"""What it does, how many to jump over if it holds and if not, and its number."""


def shut_out_at(listening: Listening) -> ShutOut:
    """What shuts out addresses from sockets that listen."""

    def shut_out(addresses: Collection[str]) -> bool:
        networks = [ipaddress.ip_network(each) for each in list(addresses)[-MOST:]]
        try:
            for own in listening():
                _filter(own, networks)
        except OSError as error:
            _log.warning(
                "this system shuts out no address: who floods again is cut again",
                extra={"error": error.strerror},
            )
            return False
        return True

    return shut_out


def _filter(
    own: socket.socket, networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]
) -> None:
    if not networks:
        own.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
        return
    code = program(networks)
    given = ctypes.create_string_buffer(b"".join(_INSTRUCTION.pack(*each) for each in code))
    told = _PROGRAM.pack(len(code), ctypes.addressof(given))
    own.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, told)


def program(
    networks: Collection[ipaddress.IPv4Network | ipaddress.IPv6Network],
) -> list[_Instruction]:
    """The filter that drops what comes from addresses of IPv4 and from networks of 64 bits of IPv6."""
    four: list[_Instruction] = [(_LOAD_WORD, 0, 0, _SOURCE_4)]
    six: list[_Instruction] = []
    for network in networks:
        source = network.network_address.packed
        if isinstance(network, ipaddress.IPv4Network):
            (address,) = struct.unpack("!I", source)
            four += [(_JUMP_IF_EQUAL, 0, 1, address), (_RETURN, 0, 0, _DROP)]
        else:
            high, low = struct.unpack("!II", source[:8])
            six += [
                (_LOAD_WORD, 0, 0, _SOURCE_6),
                (_JUMP_IF_EQUAL, 0, 3, high),
                (_LOAD_WORD, 0, 0, _SOURCE_6 + 4),
                (_JUMP_IF_EQUAL, 0, 1, low),
                (_RETURN, 0, 0, _DROP),
            ]
    four.append((_RETURN, 0, 0, _KEEP))
    return [
        (_LOAD_BYTE, 0, 0, _NETWORK_HEADER),
        (_SHIFT_RIGHT, 0, 0, _VERSION_SHIFT),
        (_JUMP_IF_EQUAL, 1, 0, 4),
        (_JUMP, 0, 0, len(four)),
        *four,
        *six,
        (_RETURN, 0, 0, _KEEP),
    ]
