"""The changes of a plan and its bots since a competition was made, for a competition that is continued."""

import json
import secrets
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from arena.contests.plan import CompetitionPlan, read_plan
from arena.errors import RefusalError
from arena.referee.wire.terms import terms_json
from arena.sandbox.content import changed_files
from arena.store import Competition, CompetitionEntry


class PlanDiffers(RefusalError, ValueError, reason="PLAN_DIFFERS"):
    """A competition of this name has another plan; the text names each difference."""


class BotsChanged(RefusalError, ValueError, reason="BOTS_CHANGED"):
    """Files of launched bots have changed since the bots entered; the text names the bots and files."""


def differences(stored: Competition, config: str, plan: CompetitionPlan) -> list[str]:
    """Return the differences between a plan and the stored one; a higher number of deal-sets is no difference."""
    before, now = tomllib.loads(stored.config), tomllib.loads(config)
    terms = json.loads(
        json.dumps(terms_json(plan.games[0].terms))
    )  # lists instead of tuples, as in the store
    different = list(_of_texts(before, stored.terms[0], now, terms))
    fewest = before.get("deal_sets", 0)
    if plan.games[0].deal_sets < fewest:
        different.append(f"{fewest} deal-sets, not {plan.games[0].deal_sets}")
    return different


def changed_bots(stored: Competition, bots: Sequence[CompetitionEntry]) -> list[str]:
    """Return the bots whose files have changed since they entered, with the files."""
    before = {bot.name: bot.version for bot in stored.entries}
    return [
        bot.name + changed_files(before[bot.name], bot.version)
        for bot in bots
        if bot.version and before.get(bot.name) and before[bot.name] != bot.version
    ]


def with_seed(config: str, stored: Competition | None) -> str:
    """Return a plan with a seed: its own, that of the stored plan, or a random one."""
    if read_plan(config).seed:
        return config
    if stored is None:
        return f'seed = "{secrets.token_hex(8)}"\n{config}'
    before = read_plan(stored.config)
    seeded = "fair = false\n" if before.games[0].terms.seeded else ""
    return f"seed = {json.dumps(before.seed)}\n{seeded}{config}"


def _of_texts(
    stored: Mapping[str, Any],
    stored_terms: Mapping[str, Any],
    given: Mapping[str, Any],
    given_terms: Mapping[str, Any],
) -> Iterator[str]:
    """Yield the differences between a plan of one game and the stored plan, each as a phrase: "NAME as stored, not as given".

    Plans are the values of their TOML, terms are as `arena.referee.wire.terms.terms_json` writes them. The number of
    deal-sets and the keys of terms in the plan are ignored.
    """
    for labels, old, new in ((_OF_TERMS, stored_terms, given_terms), (_OF_PLAN, stored, given)):
        for label, name in labels:
            if old.get(name) != new.get(name):
                yield f"{label} {old.get(name)}, not {new.get(name)}"
    if stored_terms.get("seeded") != given_terms.get("seeded"):
        before, now = (
            "seeded deals" if terms.get("seeded") else "fair deals"
            for terms in (stored_terms, given_terms)
        )
        yield f"{before}, not {now}"
    for label, name in (
        ("option", "options"),
        ("time control", "time_control"),
        ("time odds", "time_odds"),
    ):
        yield from _of_mapping(label, stored_terms.get(name, {}), given_terms.get(name, {}))
    yield from _of_bots(stored.get("bots", {}), given.get("bots", {}))


_OF_TERMS: Final = (
    ("the game", "game"),
    ("rules version", "rules_version"),
    ("seats", "seats"),
    ("fault limit", "fault_limit"),
    ("away limit in ms", "away_limit_ms"),
)
_OF_PLAN: Final = (
    ("kind", "kind"),
    ("format", "format"),
    ("seed", "seed"),
    ("games", "games"),
    ("entry", "entry"),
    ("seeds from", "seeds_from"),
)


def _of_mapping(label: str, stored: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(stored.keys() | given.keys()):
        before, now = stored.get(name, "unset"), given.get(name, "unset")
        if before != now:
            yield f"{label} {name} {before}, not {now}"


def _of_bots(stored: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    if stored.keys() != given.keys():
        yield f"the bots {', '.join(sorted(stored))}, not {', '.join(sorted(given))}"
        return
    for name, command in sorted(stored.items()):
        if command != given[name]:
            yield f"{name} started by `{command}`, not `{given[name]}`"
