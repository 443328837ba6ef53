"""Card Arena: bots play card games against each other over the network."""

import os

# Read when grpc is first imported. Otherwise it writes a line at each failed handshake, so that anyone who finds an arena's
# port could fill its terminal.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
# By default a client that polls checks its connection every 5 s between its calls. A TLS handshake takes three checks,
# and an arena closes it after 5 s: so a client could never reconnect after a restart of the arena.
os.environ.setdefault("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "200")
