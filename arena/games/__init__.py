"""The rules of every game, pure: no clock, no socket, no randomness, no protobuf.

`arena.games.catalogue` lists the games; `arena.games.contract` says what a
rules module offers; each family of games is one module.
"""
