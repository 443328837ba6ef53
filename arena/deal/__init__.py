"""Deals that anyone can recompute: protocol fd1, from the commitments to the cards."""

from arena.deal.fair import (
    ENTROPY_BYTES,
    NO_COMMITMENT,
    DealTerms,
    Lie,
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
from arena.deal.streams import KeyedDeals, Stream, board_key, deal_set_key, new_key, seeded_key

__all__ = [
    "ENTROPY_BYTES",
    "NO_COMMITMENT",
    "DealTerms",
    "KeyedDeals",
    "Lie",
    "Stream",
    "board_key",
    "bot_commitment",
    "context",
    "deal_set_key",
    "first_pack",
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
