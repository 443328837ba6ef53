"""The arena as a server: gRPC services, the bots' sessions, matches and competitions.

asyncio does the input and output, because grpc.aio needs it. trio is its guest on the same thread
and runs everything that waits: matches, timers, journal, competitions. `arena.server.host` is the
bridge between the two, and `arena.server.app` builds what runs on them.
"""

import os

# Set here because grpc reads it when it is first imported, by whichever part of the server.
# Without it anybody who finds the port could fill the terminal with failed handshakes.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
