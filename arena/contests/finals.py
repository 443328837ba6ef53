"""Finals of a ladder: fresh deal-sets of the current versions, which make its official standings.

The standings of a ladder are public while it is played, so they favour bots that were submitted, stopped or absent at
the right time. Finals are a round robin that does not use the ladder's results, so they have no such bias.
"""

import tomllib
from typing import Final

from arena.contests.plan import Format, read_plan
from arena.contests.plan_text import toml
from arena.results.deal_sets import digest
from arena.results.record import FINALS

_OF_LADDERS: Final = ("ladder", "rate", "opens", "closes", "seeds_from")
"""Keys of a ladder's plan that its finals do not have."""


def finals_plan(text: str, number: int) -> str:
    """Return the plan, in TOML, of the finals of a ladder's plan; they are numbered from 1."""
    plan = read_plan(text)
    values = {key: value for key, value in tomllib.loads(text).items() if key not in _OF_LADDERS}
    return toml(
        values
        | {
            "name": f"{plan.name}{FINALS}{number}",
            "kind": "tournament",
            "format": str(Format.ROUND_ROBIN),
            "deal_sets": plan.ladder.finals_deal_sets,
            "seed": digest(plan.seed, "finals", number),
            "entry": "invited",
        }
    )
