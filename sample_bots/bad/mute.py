"""Receives messages, and never answers."""

from raw import Stream

for _message in Stream("mute"):
    pass
