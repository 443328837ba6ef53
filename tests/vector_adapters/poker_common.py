"""Vectors of the conventions that the poker games share."""

from arena.games.betting.pots import pots_of
from tests.vector_adapters.deals import compare, only

GAMES = ("poker_common",)


def pots(vector):
    only(vector["input"], "contributions", "folded")
    paid, folded = vector["input"]["contributions"], vector["input"]["folded"]
    live = tuple(seat for seat in range(len(paid)) if seat not in folded)
    found = [{"amount": pot.amount, "eligible": list(pot.eligible)} for pot in pots_of(paid, live)]
    compare(vector["expect"], {"pots": lambda: found})


KINDS = {"pots": pots}
