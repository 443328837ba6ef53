"""Words of the arena and enums of the contract: each word has a value, and each value a word."""

import pytest

from arena.contests.plan import CompetitionKind, EntryPolicy, Format
from arena.referee.spec import Ending, FaultKind
from arena.referee.wire.enums import enum_number, enum_word
from arena.results.anytime.verdict import Decision
from arena.results.record import Out
from arena.results.states import Action, State
from arena.store import BotKind, ComparisonState
from cardarena.v1 import bots_pb2, comparisons_pb2, competitions_pb2, game_pb2

# fmt: off
ENUMS = [
    # the contract's                      the arena's words                                          why
    (competitions_pb2.CompetitionFormat,  [*Format, CompetitionKind.LADDER],                          "formats"),
    (competitions_pb2.CompetitionState,   [*State],                                                  "states of competitions"),
    (competitions_pb2.CompetitionAction,  [*Action],                                                 "actions of organisers"),
    (competitions_pb2.CompetitionExit,    [*Out],                                                    "exits of bots"),
    (competitions_pb2.EntryPolicy,        [*EntryPolicy],                                            "whose bots may enter"),
    (bots_pb2.BotKind,                    [*BotKind],                                                "kinds of bots"),
    (comparisons_pb2.ComparisonState,     [*ComparisonState],                                        "states of comparisons"),
    (comparisons_pb2.ComparisonDecision,  [decision for decision in Decision if decision is not Decision.OPEN],  "verdicts"),
    (game_pb2.Ending,                     [ending.name.lower() for ending in Ending],                    "endings"),
    (game_pb2.FaultKind,                  [kind.name.lower() for kind in FaultKind],                 "faults"),
]
# fmt: on


@pytest.mark.parametrize(("enum", "words", "why"), ENUMS, ids=[row[-1] for row in ENUMS])
def test_words_and_values_are_the_same(enum, words, why):
    numbers = [enum_number(enum, word) for word in words]
    assert sorted(numbers) == sorted(set(enum.values()) - {0})
    assert [enum_word(enum, number) for number in numbers] == words


def test_what_is_unspecified_or_unknown_has_no_word():
    assert enum_number(game_pb2.Ending, "") == 0
    assert enum_word(game_pb2.Ending, 0) == enum_word(game_pb2.Ending, 77) == ""
    with pytest.raises(ValueError, match="ENDING_SUSPENDED"):
        enum_number(game_pb2.Ending, "suspended")
