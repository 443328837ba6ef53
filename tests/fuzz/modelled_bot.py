"""The model of a bot's session: what is open, settled, counted and owed."""

from arena.live.session.limits import FREE_MESSAGES, FREE_MESSAGES_PER_S


class ModelledBot:
    """What must be true of one bot, from what it said and was told."""

    def __init__(self):
        self.open = {}
        """Asks that want an answer, in the order in which they came."""
        self.settled = {}
        """What settled asks were answered by; None if by nothing, or if that is forgotten."""
        self.asked = {}
        """The last decision of each match that was asked for."""
        self.again = set()
        """Asks that were open when the arena was killed: they are asked again, by the same ids."""
        self.over = set()
        self.faults = {}
        """What the ledger has to say of each decision: a kind, or None for the bot's own move."""
        self.max_open = 1
        self.epoch = 0
        self.strikes = 0
        self.tokens, self.at_s = float(FREE_MESSAGES), 0.0

    def settle(self, number, choice, fault):
        """A decision is settled, once and for all."""
        assert number not in self.faults, "settled twice"
        del self.open[number]
        self.settled[number] = choice
        self.faults[number] = fault

    def extra(self, now_s):
        """A message that nothing called for: false if that is one too many."""
        gained = (now_s - self.at_s) * FREE_MESSAGES_PER_S
        self.tokens, self.at_s = min(FREE_MESSAGES, self.tokens + gained), now_s
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True
