"""Answers that are ready leave in one message: counted by an arena that asks eight matches at a time."""

import pytest

from bench.sdks import TOGETHER, TURNS, gathered
from tests.sdk.languages import each_language

LEAST = 7
"""Answers in a message, on average, at least. Who sends each answer as it comes has 1 (Go, Rust and Java)
or 4 (TypeScript)."""
TRIES = 3
"""The best of so many counts: a busy machine parts answers that are ready at once."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("language", each_language())
def test_what_bots_answer_at_once_goes_together(language):
    bot = language.programs().random
    counted = [gathered(bot, TOGETHER, TURNS) for _ in range(TRIES)]
    assert max(counted) >= LEAST, counted
