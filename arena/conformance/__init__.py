"""The conformance kit: a scripted arena that tries a client, case by case.

The cases are data, in `clients/conformance/`; its README says how they are read. A
client under test is a command with fixed bots. Nothing here knows an SDK, or is
told by one how it fared: only what comes over the socket counts, the exit code, and
what the fixed bots print.
"""

import os

# Read when grpc is first imported. Cases that break a handshake on purpose would fill the terminal.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
