"""How strong the arena's own bot plays."""

from typing import Final

STEPS: Final = {"random": 0, "sample": 0, "search-20ms": 240, "search-200ms": 2400}
"""Steps of the rules that a decision takes, about, by the name of the level, the weakest first; games with fast steps take more
(`arena.house.search.Searcher.step_time`). A number, not a time, so that the bot plays alike on slow and fast machines."""
HOUSE_BOTS: Final = {f"house-{level}": level for level in STEPS}
"""The level of each of the arena's own bots, by the name under which it plays on ladders and in challenges."""
