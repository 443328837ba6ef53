"""Asks, as far as an outbox knows them."""

from arena.referee import OpenAsk


class NoTable:
    """Who asks, and does nothing about it."""

    def start_clock(self, ask):
        """The ask was sent."""


def sent_ask(sent_s=1.0):
    """An ask that was sent then."""
    ask = OpenAsk(NoTable(), 0, 1, None, b"", [])
    ask.sent(sent_s)
    return ask
