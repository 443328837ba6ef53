"""The arena as a server: gRPC services, bots' sessions, and the one bridge.

asyncio does the input and output, because grpc.aio needs it; trio is its guest
on the same thread and holds everything that waits: matches, timers, journal,
tournaments. The two meet in `arena.server.host`, and nowhere else.
"""

import os

# Read when grpc is first imported. Else it writes to the terminal whenever a handshake fails,
# which anybody who finds the port can make it do as often as he likes.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
