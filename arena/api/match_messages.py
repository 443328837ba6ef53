"""Converts ended matches between rows of the store and messages, for services and for pages."""

from collections.abc import Sequence

from arena.referee.wire.enums import enum_number, word_of
from arena.results.deal_sets import MatchOutcome
from arena.store import MatchFilter, StoredMatch
from cardarena.v1 import game_pb2, lobby_pb2


def stored_match_message(match: StoredMatch, *, sees_all: bool) -> lobby_pb2.MatchInfo:
    """Return a match that has ended, as a message; why it was aborted is only for callers who see all."""
    message, outcome = ended_message(match.game, match.bots, match.outcome), match.outcome
    for kinds in outcome.faults:
        seat_faults = message.faults.add()
        for kind, count in kinds.items():
            seat_faults.counts.add(kind=enum_number(game_pb2.FaultKind, kind), count=count)
    message.hands = outcome.hands
    message.evidence = outcome.evidence if sees_all else ""
    message.competition, message.deal_set = match.competition, match.deal_set
    message.ended_unix_ms, message.published = match.ended_unix_ms, match.published
    return message


def ended_message(game: str, bots: Sequence[str], outcome: MatchOutcome) -> lobby_pb2.MatchInfo:
    """Return a match that has ended, as a message, without what the store adds."""
    return lobby_pb2.MatchInfo(
        match_id=outcome.match_id,
        game=game,
        bots=bots,
        status=lobby_pb2.MatchStatus.MATCH_STATUS_ENDED,
        scores=[int(score) for score in outcome.scores],
        places=outcome.places,
        decisions=outcome.decisions,
        ending=enum_number(game_pb2.Ending, outcome.ending),
    )


def stored_filter(wanted: lobby_pb2.MatchFilter, *, sees_all: bool) -> MatchFilter:
    """Return the store's filter for that of a message; callers who do not see all get closed matches only."""
    return MatchFilter(
        game=wanted.game,
        bots=tuple(wanted.bots),
        competition=wanted.competition,
        ending=word_of(wanted, "ending"),
        faulted=wanted.faulted,
        published=wanted.published,
        closed=wanted.closed or not sees_all,
        lost_by=wanted.lost_by,
    )
