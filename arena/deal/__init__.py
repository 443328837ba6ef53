"""Deals that anyone can recompute: protocol fd1, from the key to the cards."""

from arena.deal.streams import KeyedDeals, Stream, board_key, group_key, new_key, seeded_key

__all__ = ["KeyedDeals", "Stream", "board_key", "group_key", "new_key", "seeded_key"]
