"""Answers that are ready leave in one message: counted by an arena that asks eight matches at a time."""

import pytest

from tests.sdk.gathering import gathered
from tests.sdk.languages import each_language

TOGETHER = 8
"""Matches that are asked at a time."""
TURNS = 1000
LEAST = 7
"""Answers in a message, on average, at least. Who sends each answer as it comes has 1 (Go, Rust and Java)
or 4 (TypeScript)."""
TRIES = 3
"""The best of so many counts: a busy machine parts answers that are ready at once."""


@pytest.mark.parametrize("language", each_language(deep=True))
def test_what_bots_answer_at_once_goes_together(language):
    bot = language.programs().random
    counted = [gathered(bot, TOGETHER, TURNS) for _ in range(TRIES)]
    assert max(counted) >= LEAST, counted
