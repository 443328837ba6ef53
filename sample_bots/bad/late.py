"""Answers each ask just after its time is up."""

from raw import Stream

from cardarena.v1.play_pb2 import Answer

stream = Stream("late")
for message in stream:
    if message.HasField("ask_closed"):
        stream.answer(Answer(ask_id=message.ask_closed.ask_id, index=0))
