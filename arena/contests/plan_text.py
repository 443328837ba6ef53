"""Plans as TOML texts: without secrets for public readers, and for the finals of a ladder."""

import tomllib
from typing import Final

from arena.contests.plan import Format, read_plan
from arena.results.deal_sets import digest
from arena.results.record import FINALS
from arena.validation import toml_text

HIDDEN: Final = "hidden"
"""Replaces the seed in a public plan."""
_OF_LADDERS: Final = ("ladder", "rate", "opens", "closes", "seeds_from")
"""Keys of a ladder's plan that its finals do not have."""


def public_text(text: str) -> str:
    """Return a plan without its seed, which fixes the packs, and without the commands of bots, which contain paths."""
    values = tomllib.loads(text) | {"seed": HIDDEN}
    values.pop("bots", None)
    return toml_text(values)


def finals_plan(text: str, number: int) -> str:
    """Return the plan, in TOML, of a ladder's finals: fresh deal-sets of the current versions. Finals are numbered from 1.

    They make the ladder's official standings. The standings of a ladder are public while it is played, so they favour
    bots that were submitted, stopped or absent at the right time. Finals are a round robin that does not use the
    ladder's results, so they have no such bias.
    """
    plan = read_plan(text)
    values = {key: value for key, value in tomllib.loads(text).items() if key not in _OF_LADDERS}
    return toml_text(
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
