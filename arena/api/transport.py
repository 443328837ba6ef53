"""Sets up gRPC: the options of servers, their services, and the limit on connections."""

import functools
import logging
import sys
from collections.abc import Sequence
from typing import Final

import grpc
from grpc_reflection.v1alpha import reflection

from arena import durable_files
from arena.api.admission.blocked_addresses import blocker
from arena.api.admission.connections import (
    ConnectionMonitor,
    bound_buffers,
    can_be_monitored,
    listening,
    of_this_process,
    open_descriptors,
    raised_descriptor_limit,
)
from arena.live.listen import UNIX
from arena.live.metrics import Traffic
from arena.live.session.limits import MAX_MESSAGE_BYTES, MAX_SENT_BYTES

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
    # Clients ping every 20 s. gRPC does not close those that ping more often: while a client does
    # not read, each of its pings after the last strike would keep some kilobytes (90 MB for a
    # connection of 3 MB). Pings have the budget of all that carries no message.
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.server_handshake_timeout_ms", 5_000),
    # This limit is for connections without a call; bots always have one.
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
"""The number of descriptors that are kept free for the journal, replays and other files."""
OTHER_DESCRIPTORS: Final = 128
"""The number of descriptors for launched bots, workers, the store, and servers other than gRPC."""

_log = logging.getLogger(__name__)


def new_server(interceptors: Sequence[grpc.aio.ServerInterceptor]) -> grpc.aio.Server:
    """Return a server that does not listen yet."""
    return grpc.aio.server(interceptors=interceptors, options=OPTIONS)


def offer(server: grpc.aio.Server, servicers: Sequence[object], others: Sequence[str]) -> None:
    """Register servicers with a server; reflection names their services and `others`."""
    names = [_register(servicer, server) for servicer in servicers]
    reflection.enable_server_reflection((*others, reflection.SERVICE_NAME, *names), server)


def _register(servicer: object, server: grpc.aio.Server) -> str:
    """Register a servicer by the generated class that it extends; return the full name of its service."""
    for generated in type(servicer).__mro__:
        stubs = sys.modules[generated.__module__]
        if register := getattr(stubs, f"add_{generated.__name__}_to_server", None):
            register(servicer, server)
            messages = sys.modules[stubs.__name__.removesuffix("_grpc")]
            services = messages.DESCRIPTOR.services_by_name
            return str(services[generated.__name__.removesuffix("Servicer")].full_name)
    raise TypeError(f"{type(servicer).__name__} extends no generated servicer")


def connection_monitor(address: str, traffic: Traffic) -> ConnectionMonitor | None:
    """Return the monitor of connections to an address; None where connections cannot be monitored."""
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
