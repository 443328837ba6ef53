"""Fair deals that anyone can recompute: protocol fd2, from the commitments to the cards."""

from arena.deal.dice import COMMON, DICE_BYTES, Dice, dice_of
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
from arena.deal.streams import KeyedDeals, KeyStream, board_key, deal_set_key, new_key, seeded_key
from arena.deal.views import SALT_BYTES, seal, view_context, view_transcript

__all__ = [
    "COMMON",
    "DICE_BYTES",
    "ENTROPY_BYTES",
    "NO_COMMITMENT",
    "SALT_BYTES",
    "DealTerms",
    "Dice",
    "KeyStream",
    "KeyedDeals",
    "Lie",
    "board_key",
    "bot_commitment",
    "context",
    "deal_set_key",
    "dice_of",
    "first_pack",
    "new_key",
    "opened_key",
    "plan_hash",
    "plan_line",
    "rules_hash",
    "seal",
    "seeded_key",
    "server_commitment",
    "setting_texts",
    "transcript",
    "view_context",
    "view_transcript",
]
