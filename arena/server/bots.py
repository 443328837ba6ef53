"""Bots: their names, their processes, and the games that they declare."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BotId:
    """Which process of which bot: tournaments run a bot as several instances."""

    name: str
    instance: int = 0


@dataclass(frozen=True, slots=True)
class Support:
    """What a bot declared for one game."""

    rules_version: int
    """0 is any."""
    seats: frozenset[int]
    """Empty is any."""
