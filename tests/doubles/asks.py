"""Asks, as far as an outbox knows them."""


class SentAsk:
    """Remembers when it was said to be sent: `arena.referee.OpenAsk` has more."""

    def __init__(self, sent_s=1.0):
        self.sent_s = sent_s

    def sent(self, now_s):
        self.sent_s = now_s
