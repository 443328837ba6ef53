"""Qualification: whether a bot may play, found out in a minute, on a laptop as at an arena.

A bot is started as it will be, plays every game that it declares against the sample and the random
bot, and has to stand what any bot meets once: messages with fields that it does not know, refusals,
asks that are withdrawn, a cut, several matches at once, and an arena that drains.
"""

from arena.qualification.run import Shelves, Wanted, qualify

__all__ = ["Shelves", "Wanted", "qualify"]
