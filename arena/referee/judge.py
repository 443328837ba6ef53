"""Judges an answer: the legal move that it chooses, or the fault."""

from typing import NamedTuple

from arena.errors import faults
from arena.games.contract import Move, Moves
from arena.games.notation import Notation
from arena.referee.ask import Answer
from arena.referee.spec import FaultKind
from arena.wire.codec import Codec, Malformed

MAX_QUOTED_CHARS = 160


class RejectedAnswer(NamedTuple):
    """Why an answer is rejected."""

    kind: FaultKind
    reason: str


def chosen_move(
    moves: Moves, answer: Answer, codec: Codec, notation: Notation
) -> Move | RejectedAnswer:
    """The legal move that an answer chooses, or why the answer is rejected.

    Raises:
      Exception: any error of the rules, which is not a fault of the bot.
    """
    index = answer.index
    if index is not None:
        offered = moves.offered
        if index < len(offered):
            return offered[index]
        reason = faults.BAD_INDEX.text(index=index, offered=len(offered))
        return RejectedAnswer(FaultKind.ILLEGAL, reason)
    if answer.failed:
        return RejectedAnswer(FaultKind.ERROR, faults.FAILED.text())
    if answer.move is None:
        return RejectedAnswer(FaultKind.MALFORMED, faults.NO_CHOICE.text())
    try:
        move = codec.read_move(answer.move)
        if move in moves:
            return move
    except Malformed as error:
        return RejectedAnswer(FaultKind.MALFORMED, faults.UNREADABLE.text(why=error))
    reason = faults.BAD_MOVE.text(move=notation.write(move)[:MAX_QUOTED_CHARS])
    return RejectedAnswer(FaultKind.ILLEGAL, reason)
