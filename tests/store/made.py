"""A competition in a store as tests make it: a round robin of two bots, drawn but not played."""

from dataclasses import replace
from datetime import UTC, datetime

from arena.contests.plan_text import public_text
from arena.results.deal_sets import MatchOutcome, round_robin
from arena.results.record import Round
from arena.store import BotKind, CompetitionEntry, CompetitionTexts, StoredMatch
from arena.validation import toml_text

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
AT = 1_795_176_000_000
"""When matches ended, in milliseconds since 1970."""
TERMS = {
    "game": "democracy",
    "rules_version": 1,
    "options": {"hands": 4, "suits": "all", "wild": False},
    "seats": 2,
    "time_control": {"move_ms": 1000, "bank_ms": 0},
    "fault_limit": 10,
    "away_limit_ms": 60_000,
    "seeded": True,
}
SEED = "7"
BOTS = ("ann", "bob")


def plan_of(name="autumn", bots=BOTS, deal_sets=3, seed=SEED):
    plans = round_robin(bots, seats=2, deal_sets=deal_sets, seed=seed, tournament=name)
    return tuple(replace(plan, round=1) for plan in plans)


PLAN = plan_of()
MATCHES = [match for each in PLAN for match in each.matches]
DEAL_SETS = {match.id: match.deal_set_id for match in MATCHES}


def config(name="autumn", bots=BOTS, deal_sets=3, seed=SEED, commands=None):
    return toml_text(
        {
            "name": name,
            "kind": "tournament",
            "format": "round_robin",
            "game": TERMS["game"],
            "seats": 2,
            "options": {"hands": 4},
            "fair": False,
            "deal_sets": deal_sets,
            "seed": seed,
            "bots": {bot: (commands or {}).get(bot, f"./{bot}") for bot in bots},
        }
    )


def made(store, name="autumn", plan=None, bots=BOTS, *, command="./bot", rounds=True):
    """The competitions of a store, to which one was added, with one round of all deal-sets."""
    competitions, plan = store.competitions(), plan_of(name) if plan is None else plan
    text = config(name, bots)
    texts = CompetitionTexts(text, public_text(text))
    competitions.create(name, texts, [TERMS], organiser="org", now=NOW)
    for bot in bots:
        entry = CompetitionEntry(bot, bot, BotKind.COMMAND, command, f"{bot} 1")
        competitions.enter(name, entry, who="org", now=NOW)
    if rounds:
        competitions.keep_round(name, 0, Round(1, (tuple(sorted(bots)),), (), "inputs"), plan)
    return competitions


def outcomes(store, name="autumn"):
    """How its matches ended so far, by id."""
    return store.competitions().record(name).games[0].outcomes


def record(store, *ended, bots=None):
    """Record how matches of the plan ended."""
    seated = {match.id: match.bots for match in MATCHES}
    store.matches().record(
        [
            StoredMatch(
                each, "democracy", bots or seated[each.match_id], DEAL_SETS[each.match_id], AT
            )
            for each in ended
        ]
    )


def result(match, **more):
    settled = {"scores": (1, 0), "places": (1, 2), "ending": "completed", "faults": ({}, {})}
    return MatchOutcome(match.id, **(settled | more))
