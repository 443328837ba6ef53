"""The rules of every game, as pure functions without clocks, sockets, randomness or protobuf.

`arena.games.catalogue` lists the games; `arena.games.contract` describes the functions of their
rules. Each family of games is a package whose modules have the same names
(`docs/adding-a-game.md`).
"""
