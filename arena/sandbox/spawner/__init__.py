"""The spawner: a small process without secrets that starts each bot in a sandbox.

The arena starts it as a program before gRPC creates threads. It uses the standard library alone, so
it starts fast and has a small attack surface. `arena.sandbox.sandbox` is its client.
"""
