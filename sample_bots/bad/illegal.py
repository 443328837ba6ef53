"""Answers with moves that the rules forbid: past the list, and in Abstrac a typed one."""

from raw import Stream, asks

from cardarena import abstrac
from cardarena.v1.game_pb2 import GameMove
from cardarena.v1.play_pb2 import Answer

TAKE_99 = GameMove(abstrac=abstrac.Move(verb=abstrac.TAKE, count=99))

stream = Stream("illegal")
for message in stream:
    for ask in asks(message):
        if ask.HasField("abstrac") and ask.ask_id % 2:
            stream.answer(Answer(ask_id=ask.ask_id, move=TAKE_99))
        else:
            stream.answer(Answer(ask_id=ask.ask_id, index=100_000))
