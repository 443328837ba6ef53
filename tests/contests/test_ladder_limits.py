"""What limits how often a bot of a ladder is drawn, in one sentence."""

from dataclasses import dataclass

import pytest

from arena.contests.ladder_limits import DrawRate, limit_of
from arena.contests.plan import read_plan
from arena.contests.timetable import Rate
from arena.results.record import Out
from arena.store import BotKind
from tests.contests.test_ladder_presence import Session, held

TERMS = (
    read_plan('name = "l"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n')
    .games[0]
    .terms
)


@dataclass
class Version:
    manifest: dict

    def __str__(self):
        return "ann@2"


DECLARES = {"games": [{"id": "sixty_six", "seats": [2], "rules": TERMS.game.rules_version}]}
OTHER = {"games": [{"id": "soko", "seats": [2], "rules": 1}]}
REMOTE, LAUNCHED, UPLOADED = BotKind.REMOTE, BotKind.COMMAND, BotKind.UPLOADED

# fmt: off
LIMITS = [
    # kind      how it is connected              more                                       what is said
    (REMOTE,    None,                            {},                                        "is not connected"),
    (REMOTE,    {"present": False},              {},                                        "is not connected"),
    (REMOTE,    {"games": frozenset()},          {},                                        "does not declare sixty_six with 2 seats"),
    (REMOTE,    {"max_matches": 0},              {},                                        "takes no matches now (max_matches 0)"),
    (REMOTE,    {},                              {"active": {"ann": None}},                 "states a version that is retired"),
    (REMOTE,    {"max_matches": 1},              {},                                        "plays one match at a time (max_matches 1): 12 deal-sets an hour so far"),
    (REMOTE,    {"max_matches": 1},              {"drawn": DrawRate(1, 0.01)},                 "plays one match at a time (max_matches 1)"),
    (REMOTE,    {"max_matches": 4},              {},                                        "plays 4 matches at a time (max_matches 4): 12 deal-sets an hour so far"),
    (REMOTE,    {"max_matches": 64},             {},                                        ""),
    (REMOTE,    {"max_matches": 64},             {"rate": Rate(60)},                        "the ladder plays at most 60 matches an hour"),
    (REMOTE,    {"max_matches": 64},             {"owners": {"ann"}},                       "no bot of another owner can play now"),
    (REMOTE,    {},                              {"away": "forfeited 3 seats in a row"},    "forfeited 3 seats in a row"),
    (REMOTE,    None,                            {"out": Out.WITHDRAWN},                    ""),
    (LAUNCHED,  None,                            {},                                        ""),
    (LAUNCHED,  None,                            {"rests": True},                           "could not be started by the arena, which tries again within a minute"),
    (UPLOADED,  None,                            {},                                        "has no active version that can be launched"),
    (UPLOADED,  None,                            {"active": {"ann": Version(OTHER)}},       "has the version ann@2, which does not declare sixty_six with 2 seats"),
    (UPLOADED,  None,                            {"active": {"ann": Version(DECLARES)}},    ""),
]
# fmt: on


@pytest.mark.parametrize(("kind", "session", "more", "said"), LIMITS)
def test_what_limits_a_bot(kind, session, more, said):
    bot = held("ann", kind, out=more.get("out"), away=more.get("away", ""))
    limit = limit_of(
        bot,
        None if session is None else Session(**session),
        more.get("active", {}),
        TERMS,
        more.get("rate", Rate()),
        more.get("drawn", DrawRate(6, 0.5)),
        rests=more.get("rests", False),
        owners=more.get("owners", {"ann", "bob"}),
    )
    assert limit == said
