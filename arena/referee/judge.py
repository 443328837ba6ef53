"""What an answer says, if it says anything: a legal move, or what is wrong with it."""

from typing import NamedTuple

from arena.games.contract import Move, Moves
from arena.games.notation import Notation
from arena.referee.ask import Answer
from arena.referee.spec import FaultKind
from arena.wire.codec import Codec, Malformed

MAX_QUOTED_CHARS = 160


class Wrong(NamedTuple):
    """Why an answer is not taken."""

    kind: FaultKind
    reason: str


def chosen_move(moves: Moves, answer: Answer, codec: Codec, notation: Notation) -> Move | Wrong:
    """The move, of those that are legal, that an answer chooses, or what is wrong with it.

    Raises:
      Exception: whatever the rules raise, which is no fault of the bot.
    """
    index = answer.index
    if index is not None:
        offered = moves.offered
        if index < len(offered):
            return offered[index]
        reason = f"index {index} is past the {len(offered)} moves offered"
        return Wrong(FaultKind.ILLEGAL, reason)
    if answer.move is None:
        return Wrong(FaultKind.MALFORMED, "the answer has neither an index nor a move")
    try:
        move = codec.read_move(answer.move)
        if move in moves:
            return move
    except Malformed as error:
        return Wrong(FaultKind.MALFORMED, str(error))
    text = notation.write(move)[:MAX_QUOTED_CHARS]
    return Wrong(FaultKind.ILLEGAL, f"not a legal move here: {text}")
