"""The spawner: a small process without secrets that starts each bot in a sandbox.

The arena starts it as a program before gRPC creates threads. It uses only the standard library, so it starts fast and
has a small attack surface. `arena.sandbox.sandbox` is its client.
"""
