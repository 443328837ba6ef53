"""The end of a match, told again by an arena that was restarted since."""

from collections.abc import Sequence
from pathlib import Path

from arena.games.contract import Seat
from arena.replay.deal_book import Opening
from arena.replay.frames import frames
from arena.replay.journal.recovery import ToldEnd
from arena.replay.notes import without_notes
from arena.replay.read import Replay
from arena.replay.records import Framed
from arena.replay.write import with_revealed
from arena.server.session.seating import newest_events
from arena.wire.games import codec_of
from cardarena.v1 import game_pb2, play_pb2


def last_events(
    bodies: Sequence[bytes], opening: Opening, replay: Path
) -> tuple[tuple[bytes, ...], ...]:
    """What each seat was told since its last ask, by seat: the rules are played again for it.

    `bodies` are the match's records; without any, they are read from its replay.

    Raises:
      OSError, Damaged, Discrepancy, Unplayable: if that is not possible.
    """
    if bodies:
        published, _ = without_notes(bodies)
        found = Replay.of_records(Framed(0, each) for each in with_revealed(published, opening))
    else:
        found = Replay.open(replay)
    spec = found.spec()
    rules, codec = spec.terms.game.rules, codec_of(spec.terms.game)
    events: list[list[object]] = [[] for _ in range(spec.terms.seats)]
    records, before = list(found.decided), 0
    for frame in frames(found):
        before += len(frame.decisions)
        if not frame.complete:
            break
        for told in frame.told:
            for seat in range(spec.terms.seats) if told.seats is None else told.seats:
                events[seat].append(told.event)
        acting = rules.to_act(frame.state)
        unasked = {
            Seat(each.seat) for each in records[before : before + len(acting)] if each.unasked
        }
        for seat in acting:
            if seat not in unasked:
                events[seat].clear()
    return tuple(tuple(codec.game_event(each) for each in told) for told in events)


def end_again(end: ToldEnd, seat: int, number: int, last: Sequence[bytes]) -> play_pb2.MatchEnd:
    """How a match ended, for the bot at a seat that numbers it so; `last` are its last events."""
    closed = end.closed
    return play_pb2.MatchEnd(
        match=number,
        trailing_events=map(game_pb2.GameEvent.FromString, newest_events(last)),
        scores=closed.scores,
        places=closed.places,
        ending=closed.ending,
        faults=[
            game_pb2.Fault(
                seat=each.seat,
                kind=each.fault,
                decision=each.decision,
                reason=each.reason if each.seat == seat else "",
            )
            for each in end.faults
        ],
        replay_id=end.opened.match_id,
        cause=closed.cause,
    )
