"""Sends answers that are no moves: nothing, an empty move, another game's move; then random bytes."""

from raw import Stream, asks

from cardarena import abstrac, democracy
from cardarena.v1.game_pb2 import GameMove
from cardarena.v1.play_pb2 import Answer

ABSTRAC = GameMove(abstrac=abstrac.Move(verb=abstrac.TAKE, count=1))
DEMOCRACY = GameMove(democracy=democracy.Move(verb=democracy.PLAY_CARD, card="not a card"))

stream = Stream("malformed")
for message in stream:
    for ask in asks(message):
        match ask.ask_id % 4:
            case 1:
                stream.answer(Answer(ask_id=ask.ask_id))
            case 2:
                stream.answer(Answer(ask_id=ask.ask_id, move=GameMove()))
            case 3:
                other = DEMOCRACY if ask.HasField("abstrac") else ABSTRAC
                stream.answer(Answer(ask_id=ask.ask_id, move=other))
            case _:
                stream.send(b"\xff" * 40)
