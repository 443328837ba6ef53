"""Blocks addresses: the kernel drops their packets to the sockets on which the arena listens.

A client whose connection is closed reconnects at once, and can flood until the next check. A socket may have a filter,
a classic BPF program that sees each packet before the socket does; on a listening socket these are the openings of
connections, and dropping one costs the arena nothing. A connection inherits the filter at the time of its opening,
which does not block its address.

Source: Linux, `Documentation/networking/filter.rst`.
"""

import ctypes
import ipaddress
import logging
import socket
import struct
from collections.abc import Callable, Collection, Iterator
from typing import Final, TypeAlias

MAX_BLOCKED: Final = 200
"""The maximal number of blocked addresses; the kernel limits the memory of a socket's filter."""

Block: TypeAlias = Callable[[Collection[str]], bool]
"""Blocks exactly these addresses or networks; returns whether the system supports that."""
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
"""The operation, the jumps if its condition is true and false, and the operand."""


def blocker(listening: Listening) -> Block:
    """Return a function that blocks addresses at listening sockets."""

    def block(addresses: Collection[str]) -> bool:
        networks = [ipaddress.ip_network(address) for address in list(addresses)[-MAX_BLOCKED:]]
        try:
            for listener in listening():
                _filter(listener, networks)
        except OSError as error:
            _log.warning(
                "this system cannot block addresses; flooding connections are only closed",
                extra={"error": error.strerror},
            )
            return False
        return True

    return block


def _filter(
    listener: socket.socket, networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]
) -> None:
    if not networks:
        listener.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
        return
    code = program(networks)
    given = ctypes.create_string_buffer(
        b"".join(_INSTRUCTION.pack(*instruction) for instruction in code)
    )
    packed = _PROGRAM.pack(len(code), ctypes.addressof(given))
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, packed)


def program(
    networks: Collection[ipaddress.IPv4Network | ipaddress.IPv6Network],
) -> list[_Instruction]:
    """Return the filter that drops packets from IPv4 addresses and from IPv6 networks of 64 bits."""
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
