"""The arena's messages, shortly: every match is Abstrac, and moves take 1, 2, … cards."""

from cardarena import abstrac
from cardarena.games.v1.abstrac_pb2 import AbstracAsk
from cardarena.v1.game_pb2 import ENDING_COMPLETED, GameEvent, MatchTerms, Setting
from cardarena.v1.play_pb2 import (
    ArenaMessage,
    Ask,
    AskClosed,
    Asks,
    BotMessage,
    Clock,
    Limits,
    MatchEnd,
    MatchStart,
    Player,
    Redirect,
    Welcome,
)


def start(match, seat=0, names=("first", "second")):
    return MatchStart(
        match=match,
        terms=MatchTerms(
            game="abstrac", rules_version=1, options=[Setting(name="hands", number=4)]
        ),
        seat=seat,
        players=[Player(seat=seat, name=name) for seat, name in enumerate(names)],
    )


def take(count):
    return abstrac.Move(verb=abstrac.TAKE, count=count)


def taken(*cards):
    return abstrac.Event(kind=abstrac.TAKEN, cards=cards)


def ask(
    ask_id, match=1, *, decision=1, moves=3, complete=True, events=(), played_for=(), move_ms=1000
):
    return Ask(
        ask_id=ask_id,
        match=match,
        decision=decision,
        clock=Clock(move_ms=move_ms, bank_ms=500),
        played_for=played_for,
        abstrac=AbstracAsk(
            view=abstrac.View(phase=abstrac.PHASE_TAKE, row=["As", "Kd", "2c"], limit=moves),
            events=events,
            moves=[take(count) for count in range(1, moves + 1)],
            moves_complete=complete,
        ),
    )


def welcome(
    matches=(), open_asks=(), *, later=(), games=(), epoch=1, note_chars=200, message_bytes=65536
):
    limits = Limits(max_message_bytes=message_bytes, max_note_chars=note_chars)
    matches = [start(match) for match in matches]
    return ArenaMessage(
        welcome=Welcome(
            epoch=epoch,
            limits=limits,
            matches=matches,
            open_asks=open_asks,
            later_asks=later,
            games=games,
        )
    )


def match_start(match, **how):
    return ArenaMessage(match_start=start(match, **how))


def asks(*asks):
    return ArenaMessage(asks=Asks(asks=asks))


def ask_closed(ask_id, fault=0, reason=""):
    return ArenaMessage(ask_closed=AskClosed(ask_id=ask_id, fault=fault, reason=reason))


def match_end(match, *events):
    trailing = [GameEvent(abstrac=event) for event in events]
    return ArenaMessage(
        match_end=MatchEnd(
            match=match,
            trailing_events=trailing,
            scores=[3, -3],
            places=[1, 2],
            ending=ENDING_COMPLETED,
        )
    )


def redirect(endpoint):
    return ArenaMessage(redirect=Redirect(endpoint=endpoint))


def answers_in(frames):
    """The answers of a bot's messages: one list for each message."""
    return [list(BotMessage.FromString(frame).answers.answers) for frame in frames]
