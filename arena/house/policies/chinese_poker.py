"""Plays Chinese Poker: makes the setting with the highest expected units of its rows, and surrenders bad hands."""

from collections.abc import Callable
from typing import Final

from arena.games.chinese import settings
from arena.games.chinese.hands import SURRENDER_UNITS, strengths
from arena.games.chinese.naturals import NATURAL_UNITS
from arena.games.chinese.odds import expected_units
from arena.games.chinese_poker.messages import DECLARE_NATURAL, PLAY, SURRENDER, Move, Set
from arena.games.chinese_poker.rules import State
from arena.games.contract import Seat

_SEARCHED: Final = 16
"""The number of settings that a search tries."""

STEP_TIME: Final = 2.0


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """Return the move of `seat`, which is to act; finding a setting takes about 1 ms, once for each hand of cards."""
    if state.committed is not None:
        setting = state.committed.settings[seat]
        assert setting is not None
        made = _expected(setting)
        return SURRENDER if made < -SURRENDER_UNITS else PLAY
    natural = state.deal.naturals[seat]
    best = _settings(state, seat, 1)[0]
    if natural is not None and NATURAL_UNITS[natural] > _expected(best):
        return DECLARE_NATURAL
    return best


def candidates(state: State, seat: Seat, below: Callable[[int], int]) -> list[Move]:
    """Return the moves that are worth a search."""
    if state.committed is not None:
        return [PLAY, SURRENDER]
    natural = [] if state.deal.naturals[seat] is None else [DECLARE_NATURAL]
    return [*natural, *_settings(state, seat, _SEARCHED)]


def _settings(state: State, seat: Seat, count: int) -> list[Set]:
    ranked = settings.candidates(state.deal.hands[seat], count)
    return [Set(rows.front, rows.middle, rows.back) for rows in ranked]


def _expected(rows: Set) -> float:
    return expected_units(*strengths(rows.front, rows.middle, rows.back))
