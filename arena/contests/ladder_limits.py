"""A sentence for the owner of a bot about what limits how often a ladder draws it.

`arena competition show`, the pages of the bot and of the competition, and the arena's log have this sentence.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from arena.bots.manifest import declares
from arena.contests.timetable import Rate
from arena.live.arena_player import MAX_MATCHES
from arena.live.session.session import Session
from arena.referee.terms import MatchTerms
from arena.store import BotKind, EnteredBot, Version

_AN_HOUR: Final = 0.05
"""The presence in hours from which the sentence has deal-sets an hour."""


@dataclass(frozen=True, slots=True)
class DrawRate:
    """How often a bot was drawn."""

    deal_sets: int
    present_h: float
    """Hours for which it was connected."""

    def __str__(self) -> str:
        if self.present_h < _AN_HOUR:
            return ""
        return f": {self.deal_sets / self.present_h:.0f} deal-sets an hour so far"


def limit_of(
    bot: EnteredBot,
    session: Session | None,
    active: Mapping[str, Version | None],
    terms: MatchTerms,
    rate: Rate,
    drawn: DrawRate,
    *,
    rests: bool,
    owners: Collection[str],
) -> str:
    """Return what limits a bot, in a sentence; empty if nothing does.

    Args:
      bot: The bot as it has entered.
      session: Its session; None for a launched bot or without one.
      active: The version that plays for each bot with versions; None if it may not play.
      terms: The terms of the ladder's game.
      drawn: How often it was drawn.
      rests: Whether the arena failed to start it and waits before the next attempt.
      owners: The owners of bots that can play now.
    """
    kind = bot.kind
    if bot.out is not None:
        return ""
    if bot.away:
        return bot.away
    if kind is BotKind.REMOTE and (why := _remote(bot.name, session, active, terms)):
        return why
    if kind is BotKind.UPLOADED and (why := _uploaded(active.get(bot.name), terms)):
        return why
    if rests:
        return "could not be started by the arena, which tries again within a minute"
    if not set(owners) - {bot.owner}:
        return "no bot of another owner can play now"
    limits = []
    if (
        kind is BotKind.REMOTE
        and session is not None
        and session.declared.max_matches < MAX_MATCHES
    ):
        matches = (
            "one match"
            if session.declared.max_matches == 1
            else f"{session.declared.max_matches} matches"
        )
        limits.append(
            f"plays {matches} at a time (max_matches {session.declared.max_matches}){drawn}"
        )
    if rate != Rate():
        limits.append(f"the ladder plays {rate}")
    return "; ".join(limits)


def _remote(
    name: str, session: Session | None, active: Mapping[str, Version | None], terms: MatchTerms
) -> str:
    if session is None or not session.present:
        return "is not connected"
    if name in active and active[name] is None:
        return "states a version that is retired"
    if not session.plays(terms.game.id, terms.game.rules_version, terms.seats):
        return f"does not declare {terms.game.id} with {terms.seats} seats"
    return "" if session.declared.max_matches else "takes no matches now (max_matches 0)"


def _uploaded(version: Version | None, terms: MatchTerms) -> str:
    if version is None:
        return "has no active version that can be launched"
    if declares(version.manifest, terms):
        return ""
    return f"has the version {version}, which does not declare {terms.game.id} with {terms.seats} seats"
