"""The levels of strength of the arena's own bot."""

from typing import Final

STEPS: Final = {"random": 0, "sample": 0, "search-20ms": 240, "search-200ms": 2400}
"""The approximate number of steps of the rules for a decision, by the name of the level, the weakest first; games with fast steps use more (`arena.house.search.Searcher.step_time`).

A number, not a time, so that the bot plays alike on slow and fast machines.
"""
HOUSE_BOTS: Final = {f"house-{level}": level for level in STEPS}
"""The level of each of the arena's own bots, by the name under which it plays on ladders and in challenges."""
