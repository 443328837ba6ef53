"""The end of a match as a restarted arena sends it again."""

from collections.abc import Sequence
from pathlib import Path

from arena.games.contract import Seat
from arena.replay.bot_notes import without_notes
from arena.replay.deal_book import Opening
from arena.replay.journal.recovery import ToldEnd
from arena.replay.playback import play_back
from arena.replay.read import Replay
from arena.replay.records import Framed
from arena.replay.write import with_revealed
from arena.server.session.asks import newest_events
from arena.wire.games import codec_of
from cardarena.v1 import game_pb2, play_pb2


def last_events(
    bodies: Sequence[bytes], opening: Opening, replay: Path
) -> tuple[tuple[bytes, ...], ...]:
    """The events that each seat received since its last ask, by seat. The match is played back for them.

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
    for step in play_back(found):
        before += len(step.decisions)
        if not step.complete:
            break
        for each in step.events:
            for seat in range(spec.terms.seats) if each.sent_to is None else each.sent_to:
                events[seat].append(each.event)
        acting = rules.to_act(step.state)
        unasked = {
            Seat(each.seat) for each in records[before : before + len(acting)] if each.unasked
        }
        for seat in acting:
            if seat not in unasked:
                events[seat].clear()
    return tuple(tuple(codec.game_event(each) for each in received) for received in events)


def end_again(end: ToldEnd, seat: int, number: int, last: Sequence[bytes]) -> play_pb2.MatchEnd:
    """The end of a match for the bot at a seat.

    `number` is the number of the match on the bot's streams, `last` are the last events of the seat.
    """
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
