"""Answers that are ready leave in one message: counted by an arena that asks eight matches at a time."""

import pytest

from bench.sdks import TOGETHER, TURNS, gathered
from tests.sdk.languages import each_language

LEAST = 7
"""Answers in a message, on average, at least. Who sends each answer as it comes has 1 (Go, Rust and Java)
or 4 (TypeScript); on a machine with five times as many programs as cores the least was 7.7."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("language", each_language())
def test_what_bots_answer_at_once_goes_together(language):
    assert gathered(language.programs().random, TOGETHER, TURNS) >= LEAST
