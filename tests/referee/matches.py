"""Whole matches on a mock clock, and what can be read from them afterwards."""

import contextlib
import functools
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import trio
from trio.testing import MockClock

from arena.games.catalogue import game_by_id
from arena.local.turns import turns
from arena.referee.referee import Referee
from arena.referee.seat import Answer, OpenAsk
from arena.referee.spec import FaultKind
from arena.referee.terms import TimeControl
from arena.referee.wire.games import codec_of
from arena.testing.referee import MemoryLedger, Reply, Scripted, play, seeded_spec
from cardarena.v1 import game_pb2, play_pb2
from tests.walks import Walk

CONTROL = TimeControl(move_ms=1000, bank_ms=5000, increment_ms=100)
ALLOWED_S = 6.0
"""Time for the first move by that."""
THINK_S = 0.25


@cache
def moves_of(game_id):
    """Moves of a few random matches, to find some that are not legal just now."""
    game = game_by_id(game_id)
    moves = (move for seed in range(3) for move in Walk(game, game.seats[0], seed).moves())
    return tuple(dict.fromkeys(moves))


def illegal_move(game):
    """Answers with a typed move that is not legal."""

    def reply(ask):
        move = next(move for move in moves_of(game.id) if move not in ask.moves)
        return Reply(Answer(move=typed(game, move)), THINK_S)

    return reply


def typed(game, move):
    return game_pb2.GameMove.FromString(codec_of(game).game_move(move))


def misdeeds(game):
    """Every way to do wrong: what the bot does, what it is called, and its reason."""
    replies = {
        "mute": Reply(answer=None),
        "late": Reply(after_s=1000.0),
        "an index past the list": Reply(Answer(index=513), THINK_S),
        "a typed move that is not legal": illegal_move(game),
        "no choice at all": Reply(Answer(), THINK_S),
        "a move of no game": Reply(Answer(move=game_pb2.GameMove()), THINK_S),
        "an error of its own": Reply(Answer(failed=True), THINK_S),
        "leaving": Reply(after_s=THINK_S, leaves=True),
    }
    return {name: Misdeed(reply, *CALLED[name]) for name, reply in replies.items()}


CALLED = {
    "mute": (FaultKind.TIMEOUT, "no answer in time"),
    "late": (FaultKind.TIMEOUT, "no answer in time"),
    "an index past the list": (FaultKind.ILLEGAL, "index 513 is past the"),
    "a typed move that is not legal": (FaultKind.ILLEGAL, "not a legal move here: "),
    "no choice at all": (FaultKind.MALFORMED, "neither an index nor a move"),
    "a move of no game": (FaultKind.MALFORMED, "no move of a known game"),
    "an error of its own": (FaultKind.ERROR, "an error in its own code"),
    "leaving": (FaultKind.GONE, "the bot had left"),
}


class Misdeed(NamedTuple):
    reply: Reply | Callable[[OpenAsk], Reply]
    kind: FaultKind
    reason: str

    def script(self, ask):
        return self.reply if isinstance(self.reply, Reply) else self.reply(ask)


def nearly_three(game):
    """Three seats, or as nearly three as the game has: three show more than two."""
    return min(game.seats, key=lambda seats: abs(seats - 3))


def spec_of(game_id, seats=0, **changes):
    seats = seats or nearly_three(game_by_id(game_id))
    changes = {"time_control": CONTROL, **changes}
    return seeded_spec(game_id, seats, {"hands": seats}, **changes)


def plays(ask):
    """Plays the last move offered, at once."""
    return Reply(Answer(index=len(ask.moves.offered) - 1))


def thinks(ask):
    """Plays the last move offered, after a moment."""
    return Reply(Answer(index=len(ask.moves.offered) - 1), THINK_S)


def plays_but(replies, otherwise=plays):
    """Plays, but for the replies given by decision: each a reply, or a script."""

    def script(ask):
        reply = replies.get(ask.decision, otherwise)
        return reply if isinstance(reply, Reply) else reply(ask)

    return script


def thinks_but(replies):
    """As `thinks`, but for the replies given by decision."""
    return plays_but(replies, thinks)


@contextlib.asynccontextmanager
async def refereed(synced, bots):
    """A referee that runs, and bots that play; all of them end with the block."""
    referee = Referee(synced)
    async with trio.open_nursery() as nursery:
        await nursery.start(referee.run)
        for bot in bots:
            nursery.start_soon(bot.run)
        yield referee
        nursery.cancel_scope.cancel()


def run(spec, scripts, ledger=None, past=(), lag=None, spectators=None):
    """Play a match on a mock clock; its outcome, the bots and the ledger.

    `past` are the decisions of a match that goes on; `spectators` watches.
    """
    bots = [script if isinstance(script, Scripted) else Scripted(script) for script in scripts]
    ledger = ledger or MemoryLedger()
    begin = functools.partial(play, spec, bots, ledger, past=past, lag=lag, spectators=spectators)
    outcome = trio.run(begin, clock=MockClock(autojump_threshold=0))
    return outcome, bots, ledger


def moves_in(ledger, game):
    """The moves of a ledger, by seat and decision."""
    codec = codec_of(game)
    return {
        (decision.seat, decision.decision): codec.read_move(
            game_pb2.GameMove.FromString(decision.game_move)
        )
        for decision in ledger.decisions
    }


def states_of(spec, ledger):
    """Play a ledger's decisions through the rules: the state at each, and the last one."""
    rules, played = spec.terms.game.rules, moves_in(ledger, spec.terms.game)
    decided, states = Counter(), {}

    def choose(state, seat):
        decided[seat] += 1
        at = seat, decided[seat]
        states[at] = state
        return played.pop(at)

    *_, last = turns(rules, spec.terms.options, spec.terms.seats, spec.deals, choose)
    assert not played, "nothing was written down beyond the end"
    return states, last.after


def ask_message(asked):
    return play_pb2.Ask.FromString(asked.body)


def spread(items, most=40):
    """All items, or so many of them evenly spread, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(at * (len(items) - 1) / (most - 1))] for at in range(most)]
