"""Identifies bots, and describes the games that they declare."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BotId:
    """A process of a bot: competitions run a bot as several instances."""

    name: str
    instance: int = 0


@dataclass(frozen=True, slots=True)
class Support:
    """A bot's declaration for one game."""

    rules_version: int
    """0 stands for any version."""
    seats: frozenset[int]
    """Empty stands for any number of seats."""
