"""Answers each ask thousands of times, answers asks that never existed, and sends huge messages."""

from raw import Stream, asks

from cardarena.v1.play_pb2 import Answer

stream = Stream("flooding")
for message in stream:
    for ask in asks(message):
        stream.answer(*(Answer(ask_id=1_000_000 + i, note="x" * 200) for i in range(1000)))
        for i in range(5000):
            stream.answer(Answer(ask_id=ask.ask_id, index=i % 2))
