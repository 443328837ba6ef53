"""The arena as a server: gRPC services, bots' sessions, and the one bridge.

asyncio does the input and output, because grpc.aio needs it; trio is its guest
on the same thread and holds everything that waits: matches, timers, journal,
tournaments. The two meet in `arena.server.host`, and nowhere else.
"""

import os

# As in the SDK, and for whoever imports a part of the server first: read when grpc is imported.
# Else anybody who finds the port could fill the terminal with handshakes that fail.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
