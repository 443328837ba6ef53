"""The rules of every game, pure: no clock, no socket, no randomness, no protobuf.

`arena.games.catalogue` lists the games; `arena.games.contract` says what the
rules of one offer. Each family of games is a package whose rooms are named
alike (`docs/adding-a-game.md`), or a single file if it is small.
"""
