"""The arena as a server: gRPC services, bots' sessions, and the one bridge.

asyncio does the input and output, because grpc.aio needs it; trio is its guest
on the same thread and holds everything that waits: matches, timers, journal,
tournaments. The two meet in `arena.server.host`, and nowhere else.
"""

import os

# Set here, as grpc reads it when it is first imported, by whichever part of the server.
# Without it anybody who finds the port could fill the terminal with failed handshakes.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
