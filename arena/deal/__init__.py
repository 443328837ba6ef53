"""Deals that anyone can recompute: protocol fd1, from the commitments to the cards."""

from arena.deal.fair import (
    ENTROPY_BYTES,
    NO_COMMITMENT,
    Lie,
    Terms,
    bot_commitment,
    context,
    opened_key,
    plan_hash,
    plan_line,
    rules_hash,
    server_commitment,
    setting_texts,
    transcript,
)
from arena.deal.packs import first_pack
from arena.deal.streams import KeyedDeals, Stream, board_key, group_key, new_key, seeded_key

__all__ = [
    "ENTROPY_BYTES",
    "NO_COMMITMENT",
    "KeyedDeals",
    "Lie",
    "Stream",
    "Terms",
    "board_key",
    "bot_commitment",
    "context",
    "first_pack",
    "group_key",
    "new_key",
    "opened_key",
    "plan_hash",
    "plan_line",
    "rules_hash",
    "seeded_key",
    "server_commitment",
    "setting_texts",
    "transcript",
]
