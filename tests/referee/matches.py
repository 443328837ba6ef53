"""Whole matches on a mock clock, and what can be read from them afterwards."""

import trio
from trio.testing import MockClock

from arena.games.catalogue import game_by_id
from arena.referee import Answer, FaultKind, TimeControl
from arena.referee.scripted import MemoryLedger, Reply, Scripted, play, seeded_spec
from arena.wire.games import codec_of
from cardarena.games.v1 import abstrac_pb2, chinese_poker_pb2, democracy_pb2
from cardarena.v1 import game_pb2, play_pb2

CONTROL = TimeControl(move_ms=1000, bank_ms=5000, increment_ms=100)
ALLOWED_S = 6.0
"""Time for the first move by that."""
THINK_S = 0.25

SEATS = {
    "abstrac": 2,
    "abstrac_suit": 2,
    "abstrac_unfettered": 2,
    "abstrac_fiftytwo": 2,
    "democracy": 3,
    "chinese_poker": 3,
}
"""Seats of a match of each game: three show more than two."""

NEVER_LEGAL = {
    "abstrac": game_pb2.GameMove(
        abstrac=abstrac_pb2.AbstracMove(verb=abstrac_pb2.ABSTRAC_VERB_TAKE, count=27)
    ),
    "democracy": game_pb2.GameMove(
        democracy=democracy_pb2.DemocracyMove(
            verb=democracy_pb2.DEMOCRACY_VERB_PLAY_CARD, card="2c"
        )
    ),
    "chinese_poker": game_pb2.GameMove(
        chinese_poker=chinese_poker_pb2.ChinesePokerMove(
            verb=chinese_poker_pb2.CHINESE_POKER_VERB_SET, front=["As"], middle=["no card"]
        )
    ),
}
"""A typed move of each family that is never legal."""


def misdeeds(family):
    """Every way to do wrong: what the bot does, what it is called, and its reason."""
    return {
        "mute": (Reply(answer=None), FaultKind.TIMEOUT, "no answer in time"),
        "late": (Reply(after_s=100.0), FaultKind.TIMEOUT, "no answer in time"),
        "an index past the list": (
            Reply(Answer(index=513), THINK_S),
            FaultKind.ILLEGAL,
            "index 513 is past the",
        ),
        "a typed move that is not legal": (
            Reply(Answer(move=NEVER_LEGAL[family]), THINK_S),
            FaultKind.ILLEGAL,
            "not a legal move here: ",
        ),
        "no choice at all": (
            Reply(Answer(), THINK_S),
            FaultKind.MALFORMED,
            "neither an index nor a move",
        ),
        "a move of no game": (
            Reply(Answer(move=game_pb2.GameMove()), THINK_S),
            FaultKind.MALFORMED,
            "no move of a known game",
        ),
        "leaving": (Reply(after_s=THINK_S, leaves=True), FaultKind.GONE, "the bot had left"),
    }


def spec_of(game_id, seats=0, **changes):
    seats = seats or SEATS[game_id]
    changes = {"time_control": CONTROL, **changes}
    return seeded_spec(game_id, seats, {"hands": seats}, **changes)


def plays(ask):
    """Plays the last move offered, at once."""
    return Reply(Answer(index=len(ask.moves.offered) - 1))


def thinks(ask):
    """Plays the last move offered, after a moment."""
    return Reply(Answer(index=len(ask.moves.offered) - 1), THINK_S)


def plays_but(replies):
    """As `plays`, but for the replies given by decision."""
    return lambda ask: replies.get(ask.decision) or plays(ask)


def thinks_but(replies):
    """As `thinks`, but for the replies given by decision."""
    return lambda ask: replies.get(ask.decision) or thinks(ask)


def run(spec, scripts, ledger=None):
    """Play a match on a mock clock; its outcome, the bots and the ledger."""
    bots = [each if isinstance(each, Scripted) else Scripted(each) for each in scripts]
    ledger = ledger or MemoryLedger()
    outcome = trio.run(play, spec, bots, ledger, clock=MockClock(autojump_threshold=0))
    return outcome, bots, ledger


def moves_in(ledger, game):
    """The moves of a ledger, by seat and decision."""
    codec = codec_of(game)
    return {
        (each.seat, each.decision): codec.read_move(game_pb2.GameMove.FromString(each.game_move))
        for each in ledger.decisions
    }


def states_of(spec, ledger):
    """Play a ledger's decisions through the rules: the state at each, and the last one."""
    rules, played = game_by_id(spec.game.id).rules, moves_in(ledger, spec.game)
    state = rules.start(spec.options, spec.seats, spec.deals).state
    decided, states = dict.fromkeys(range(spec.seats), 0), {}
    while acting := rules.to_act(state):
        chosen = []
        for seat in acting:
            decided[seat] += 1
            at = seat, decided[seat]
            states[at] = state
            chosen.append((seat, played.pop(at)))
        state = rules.step(state, tuple(chosen), spec.deals).state
    assert not played, "nothing was written down beyond the end"
    return states, state


def ask_message(asked):
    return play_pb2.Ask.FromString(asked.body)
