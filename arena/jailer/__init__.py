"""The jailer: a small process without secrets that starts bots, each behind a wall.

It is started as a program, before gRPC has threads, and is the standard library alone, so that
it starts at once and there is little in it to attack. `arena.jail.wall` speaks to it.
"""
