"""Asks, as far as an outbox knows them."""

import math

from arena.referee import OpenAsk


class NoTime:
    """The time of a seat that never runs out."""

    def start_clock(self, ask):
        """The ask was sent."""
        return math.inf


def sent_ask(sent_s=1.0):
    """An ask that was sent then."""
    ask = OpenAsk(None, NoTime(), 0, 1, None, b"", [])
    ask.sent(sent_s)
    return ask
