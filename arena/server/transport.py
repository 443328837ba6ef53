"""Sets up gRPC: the options of servers, their services, and the limit on connections."""

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import grpc
from grpc_reflection.v1alpha import reflection

from arena.replay import durable_files
from arena.server.admission.blocked_addresses import blocker
from arena.server.admission.connections import (
    ConnectionMonitor,
    bound_buffers,
    can_be_monitored,
    listening,
    of_this_process,
    open_descriptors,
    raised_descriptor_limit,
)
from arena.server.listen import UNIX
from arena.server.metrics import Traffic
from arena.server.session.limits import MAX_MESSAGE_BYTES, MAX_SENT_BYTES, MIN_PING_INTERVAL_MS

OPTIONS: Final = (
    # gRPC refuses a longer message without a machine-readable reason.
    ("grpc.max_receive_message_length", 2 * MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_SENT_BYTES),
    ("grpc.max_metadata_size", 4_096),
    ("grpc.absolute_max_metadata_size", 8_192),
    ("grpc.max_concurrent_streams", 128),  # of one connection
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Without this a frozen peer is noticed only after a minute.
    ("grpc.http2.ping_timeout_ms", 10_000),
    # Clients ping every 20 s; the default would close them for too many pings.
    ("grpc.http2.min_ping_interval_without_data_ms", MIN_PING_INTERVAL_MS),
    ("grpc.http2.max_ping_strikes", 2),
    ("grpc.server_handshake_timeout_ms", 5_000),
    # For connections without a call; bots always have one.
    ("grpc.max_connection_idle_ms", 60_000),
    # The probe would let a stream's window grow to megabytes, which stay in memory while the
    # stream is not read.
    ("grpc.http2.bdp_probe", 0),
    # Otherwise two servers would share a port without an error.
    ("grpc.so_reuseport", 0),
    ("grpc.enable_channelz", 0),
    # No compression: gRPC unpacks a message whole before it checks the size, so 64 kB could
    # become 64 MB for a moment, and use the processor for a third of a second.
    ("grpc.compression_enabled_algorithms_bitset", 1),
)
SPARE_DESCRIPTORS: Final = 64
"""Kept free for the journal, replays and other files."""
OTHER_DESCRIPTORS: Final = 128
"""For launched bots, workers, the store, and servers other than gRPC."""

_log = logging.getLogger(__name__)


class Service(NamedTuple):
    """A gRPC service and its servicer."""

    descriptor: Any
    """The service as its generated module describes it."""
    register: Callable[[Any, grpc.aio.Server], object]
    """The generated function that adds it to a server."""
    servicer: object

    @classmethod
    def of(cls, messages: Any, stubs: Any, name: str, servicer: object) -> "Service":
        """The service of this name in the generated modules of its messages and its stubs."""
        register = getattr(stubs, f"add_{name}Servicer_to_server")
        return cls(messages.DESCRIPTOR.services_by_name[name], register, servicer)


def new_server(interceptors: Sequence[grpc.aio.ServerInterceptor]) -> grpc.aio.Server:
    """A server that does not listen yet."""
    return grpc.aio.server(interceptors=interceptors, options=OPTIONS)


def offer(server: grpc.aio.Server, services: Sequence[Service], others: Sequence[str]) -> None:
    """Register services with a server; reflection names them and `others`."""
    for each in services:
        each.register(each.servicer, server)
    names = (*others, reflection.SERVICE_NAME, *(each.descriptor.full_name for each in services))
    reflection.enable_server_reflection(names, server)


def connection_monitor(address: str, traffic: Traffic) -> ConnectionMonitor | None:
    """The monitor of connections to an address; None where connections cannot be monitored."""
    if address.startswith(UNIX):
        return None  # the kernel does not count its bytes, and the file's mode restricts who may connect
    if not can_be_monitored():
        _log.warning("this system does not show connections; floods of frames are not detected")
        return None
    port = int(address.rpartition(":")[2])
    bound_buffers(port)
    return ConnectionMonitor(
        of_this_process(port),
        traffic,
        most=_most_connections(),
        block=blocker(functools.partial(listening, port)),
    )


def _most_connections() -> int:
    """Reserve some descriptors, and return how many remain for connections."""
    limit = raised_descriptor_limit()
    durable_files.spare.hold(SPARE_DESCRIPTORS)
    return max(limit - open_descriptors() - OTHER_DESCRIPTORS, 1)
