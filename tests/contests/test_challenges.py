"""Challenges: who accepts them, how many there are on a day, and what is played. Results are of comparisons."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from arena.contests import comparison_requests, comparison_runner
from arena.contests.comparison import Comparison, UnfinishedComparison
from arena.contests.comparison_requests import (
    DECLINED,
    MOST_CHALLENGE_DEAL_SETS,
    MOST_CHALLENGES,
    MOST_OPEN,
    BadComparison,
    ComparisonQuery,
    NotAccepted,
    challenges_of,
    end_request,
    judged,
    request_comparison,
    seen_by,
)
from arena.contests.plan import read_plan
from arena.referee.terms import TIME_CLASSES, TimeControl
from arena.results.deal_sets import HOUSE
from arena.results.states import State
from arena.results.versions import VersionEvent
from arena.sandbox.command import BadCommand
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.store import (
    BotKind,
    ComparisonState,
    NoComparison,
    TooManyChallenges,
    TooManyOpen,
    open_store,
)
from tests.contests.played import outcome
from tests.contests.test_comparison_requests import play_all
from tests.store.test_registry import key_of

NOW = datetime(2026, 11, 25, 23, tzinfo=UTC)
TOMORROW = NOW + timedelta(hours=2)
ACCEPTS = 3


def terms_of(game="sixty_six", seats=2, more=""):
    plan = f'name = "l"\nkind = "ladder"\ngame = "{game}"\nseats = {seats}\nseed = "s"\n{more}'
    return read_plan(plan).games[0].terms


def declared(game, accepts, seats=(2,)):
    terms = terms_of(game, seats[0])
    return {
        "id": game,
        "seats": list(seats),
        "rules": terms.game.rules_version,
        "accepts_challenges": accepts,
    }


GAMES = [declared("sixty_six", ACCEPTS), declared("klaberjass", 0), declared("loo", 1, (5, 7))]


def add_bot(store, owner, bot, games, state=VersionEvent.ACTIVE):
    registry = store.registry()
    registry.invite(bot, owner, invited_by="org", now=NOW)
    registry.register(bot, key_of, now=NOW)
    registry.create_bot(bot, owner, BotKind.UPLOADED, now=NOW)
    registry.submit(bot, sha256=(bot[0] + "0") * 32, manifest={"games": games}, now=NOW)
    for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED, VersionEvent.ACTIVE):
        registry.record(bot, 1, event, who=owner, now=NOW)
        if event is state:
            return


@pytest.fixture
def store(tmp_path):
    """A store with a bot of ann, one of bob that accepts some challenges, and an inactive one of cid."""
    with open_store(tmp_path / "arena.db") as store:
        add_bot(store, "ann", "ace", GAMES)
        add_bot(store, "bob", "bee", GAMES)
        add_bot(store, "cid", "cat", GAMES, VersionEvent.QUALIFIED)
        yield store
        assert store.violations() == ()


def challenge(store, opponent="bee", bot="ace", owner="ann", *, now=NOW, terms=None, most=9):
    wanted = ComparisonQuery(
        bot,
        opponent,
        terms or terms_of(),
        each_other=False,
        most=most,
        same_within=None,
        challenge=True,
    )
    return request_comparison(store, owner, wanted, now=now)


def timed(number):
    """Terms that make another challenge of the same two."""
    return replace(terms_of(), time_control=TimeControl(move_ms=number))


# fmt: off
WHOM = [
    # opponent        challenged        or refused because                            why
    ("bee",           "bee@1",          None,                                         "it accepts some"),
    ("bee@1",         "bee@1",          None,                                         "its active version"),
    ("house-sample",  "house-sample",   None,                                         "the house accepts always"),
    ("house-god",     None,             "the arena's own bots are house-random",      "no such level"),
    ("(house)",       None,             "the arena's own bots are house-random",      "no bot to challenge"),
    ("cat",           None,             "'cat' is no submitted bot with an active",   "no active version"),
    ("bee@2",         None,             "bee@2 is not active",                        "no such version"),
    ("nobody",        None,             "is no submitted bot",                        "no such bot"),
    ("ace",           None,             "ace@1 is not compared with itself",          "itself"),
]
BY_GAME = [
    # game          seats   the error      what it says                             why
    ("klaberjass",  2,      NotAccepted,   "'bee' accepts none in klaberjass",      "a game without challenges"),
    ("soko",        2,      BadComparison, "bee@1 does not play soko with 2 seats", "a game that it does not play"),
    ("loo",         5,      None,          "",                                      "a game of five"),
    ("loo",         6,      BadComparison, "bee@1 does not play loo with 6 seats",  "seats that it does not play"),
]
TIMES = [
    # time control                          played    why
    (TimeControl(),                         True,     "the standard one"),
    (TimeControl(move_ms=100, bank_ms=0),   True,     "a faster one"),
    (TIME_CLASSES["slow"],                  False,    "a slow one"),
    (TimeControl(bank_ms=60_001),           False,    "a longer bank"),
    (TimeControl(increment_ms=1),           False,    "a bank that grows"),
]
# fmt: on


@pytest.mark.parametrize(
    ("opponent", "version", "refused", "why"), WHOM, ids=[row[-1] for row in WHOM]
)
def test_whom_an_owner_may_challenge(store, opponent, version, refused, why):
    if refused is None:
        made = challenge(store, opponent)
        assert (made.query["first"], made.query["second"]) == ("ace@1", version)
        assert (made.opponent, made.query["each_other"]) == (version.partition("@")[0], True)
        return
    with pytest.raises(BadComparison, match=refused.replace("(", r"\(")):
        challenge(store, opponent)


@pytest.mark.parametrize("bot", ["bee", "bee@1", "cat", "house-sample"])
def test_only_an_own_bot_challenges(store, bot):
    with pytest.raises(BadComparison):
        challenge(store, "bee", bot)


@pytest.mark.parametrize(
    ("game", "seats", "error", "said", "why"), BY_GAME, ids=[row[-1] for row in BY_GAME]
)
def test_a_bot_accepts_by_game(store, game, seats, error, said, why):
    terms = terms_of(game, seats)
    if error is None:
        assert challenge(store, terms=terms).state is ComparisonState.OPEN
        return
    with pytest.raises(error, match=said):
        challenge(store, terms=terms)


def test_a_bot_challenges_in_games_that_it_plays(store):
    with pytest.raises(BadComparison, match="ace@1 does not play soko with 2 seats"):
        challenge(store, "house-sample", terms=terms_of("soko"))


def test_a_bot_that_has_won_a_competition_of_the_game_accepts_always(store, monkeypatch):
    body = {"games": [{"game": "klaberjass", "rows": [{"bot": "bee", "place": 1}]}]}
    competitions = SimpleNamespace(
        all=lambda: [SimpleNamespace(name="autumn", state=State.FINISHED, official=1)],
        official=lambda _: SimpleNamespace(body=json.dumps(body)),
    )
    monkeypatch.setattr(type(store), "competitions", lambda _: competitions)
    made = challenge(store, terms=terms_of("klaberjass"))
    with pytest.raises(BadComparison, match="bee has won a competition of klaberjass"):
        end_request(store, made.id, "bob")
    body["games"][0]["rows"][0]["place"] = 2
    with pytest.raises(NotAccepted):
        challenge(store, terms=terms_of("klaberjass", more="options.hands = 4\n"))


@pytest.mark.parametrize(("control", "played", "why"), TIMES, ids=[row[-1] for row in TIMES])
def test_a_challenge_is_played_at_the_standard_time_control_or_faster(store, control, played, why):
    terms = replace(terms_of(), time_control=control)
    if played:
        assert challenge(store, terms=terms).state is ComparisonState.OPEN
        return
    with pytest.raises(BadComparison, match="at the standard time control or a faster one"):
        challenge(store, terms=terms)


def end_all(store):
    requests = store.comparison_requests()
    for request in requests.open():
        requests.end(request.id, ComparisonState.STOPPED, "cancelled")


def test_a_bot_has_as_many_challenges_a_day_as_it_accepts_from_all_owners(store):
    add_bot(store, "dan", "dog", GAMES)
    for number in range(ACCEPTS):
        owner, bot = ("ann", "ace") if number % 2 else ("dan", "dog")
        challenge(store, bot=bot, owner=owner, terms=timed(number + 1))
    end_all(store)
    with pytest.raises(TooManyChallenges, match="'bee' has had 3 in sixty_six today"):
        challenge(store, terms=timed(9))
    assert challenge(store, terms=terms_of("loo", 5)).opponent == "bee", "another game"
    assert challenge(store, terms=timed(9), now=TOMORROW).opponent == "bee"


def test_a_flood_of_challenges_is_refused(store):
    """The house accepts always, so only the quotas of the challenger stop a flood."""
    for number in range(MOST_OPEN):
        challenge(store, "house-random", terms=timed(number + 1))
    with pytest.raises(TooManyOpen):
        challenge(store, "house-random", terms=timed(MOST_OPEN + 1))
    for number in range(MOST_OPEN, MOST_CHALLENGES):
        end_all(store)
        challenge(store, "house-random", terms=timed(number + 1))
    end_all(store)
    with pytest.raises(TooManyChallenges, match=f"ann has made {MOST_CHALLENGES} today"):
        challenge(store, "house-random", terms=timed(MOST_CHALLENGES + 1))
    assert len(store.comparison_requests().of_owner("ann")) == MOST_CHALLENGES
    challenge(store, "house-random", terms=timed(MOST_CHALLENGES + 1), now=TOMORROW)


def test_calls_at_once_get_no_more_than_a_bot_accepts(store):
    """The quota is counted where the row is added, so that of many calls as many pass as one after the other."""
    add_bot(store, "dan", "dog", GAMES)
    owners = {"ann": "ace", "dan": "dog"}

    def call(number):
        owner = [*owners][number % 2]
        try:
            challenge(store, bot=owners[owner], owner=owner, terms=timed(number + 1))
        except TooManyChallenges:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(call, range(16))) == ACCEPTS
    assert len(challenges_of(store, "bob")) == ACCEPTS


def test_the_owner_of_a_challenged_bot_sees_challenges_and_declines_them(store):
    made = challenge(store)
    assert challenges_of(store, "bob") == (made,)
    assert challenges_of(store, "ann") == challenges_of(store, "cid") == ()
    assert seen_by(store, made.id, "bob") == seen_by(store, made.id, "ann") == made
    with pytest.raises(NoComparison):
        end_request(store, made.id, "cid")
    end_request(store, made.id, "bob")
    again = challenge(store, most=MOST_CHALLENGE_DEAL_SETS)
    assert (again.id, again.state, again.reason) == (made.id, ComparisonState.STOPPED, DECLINED)
    for number in range(1, ACCEPTS):
        challenge(store, terms=timed(number))
    with pytest.raises(
        TooManyChallenges
    ):  # a declined one counts, so that it makes room for no other
        challenge(store, terms=timed(99))


def test_a_challenge_that_its_owner_stopped_may_go_on(store):
    made = challenge(store, most=5)
    end_request(store, made.id, "ann")
    assert challenge(store, most=6).state is ComparisonState.OPEN


def test_the_same_challenge_continues_on_its_day_and_begins_anew_on_the_next(store):
    requests, first = store.comparison_requests(), challenge(store, most=0)
    assert first.query["most"] == comparison_requests.DEFAULT_CHALLENGE_DEAL_SETS
    requests.keep_margins(first.id, (0.5, -0.5), 5, now=NOW)
    again = challenge(store, most=1_000)
    assert (again.id, again.margins) == (first.id, (0.5, -0.5))
    assert again.query["most"] == MOST_CHALLENGE_DEAL_SETS
    assert challenge(store, now=TOMORROW).id != first.id


def test_challenges_do_not_weaken_the_verdicts_of_comparisons(store):
    requests = store.comparison_requests()
    query = challenge(store, "house-sample").query
    compared = requests.create("ann", query, now=NOW, quota=comparison_requests.QUOTA)
    found = judged(requests.of_owner("ann"))
    assert [(one.number, one.request.opponent) for one in found.values()] == [
        (1, "house-sample"),
        (1, ""),
    ]
    assert found[compared.id].request.owner == "ann"


# fmt: off
FAILURES = [
    # the error                                   the challenger reads     why
    (BadCommand("/srv/arena/bots/bee@1 is gone"), "it cannot be played",   "the files of another owner's bot"),
    (UnfinishedComparison("deal-set 3"),          "deal-set 3",            "a match that is not finished"),
]
# fmt: on


@pytest.mark.parametrize(("error", "said", "why"), FAILURES, ids=[row[-1] for row in FAILURES])
def test_a_challenger_reads_nothing_of_the_opponents_files(store, monkeypatch, error, said, why):
    async def plays(*_):
        raise error

    monkeypatch.setattr(comparison_runner, "play_comparison", plays)
    made = challenge(store)
    play_all(store)
    assert store.comparison_requests().get(made.id).reason == said


@pytest.mark.parametrize(("game", "seats"), [("sixty_six", 2), ("loo", 5), ("loo", 6)])
def test_both_sit_at_each_table_and_have_every_seat_equally_often(game, seats):
    terms = terms_of(game, seats, f"options.hands = {seats}\n")
    comparison = Comparison("c", terms, "a", "b", each_other=True, seed="s")
    tables = [match.bots for match in comparison.deal_set(1).matches]
    assert all(sorted(bots) == sorted(("a", "b", *[HOUSE] * (seats - 2))) for bots in tables)
    for bot in ("a", "b"):
        places = [bots.index(bot) for bots in tables]
        assert {places.count(seat) for seat in range(seats)} == {len(tables) // seats}
    lefts = [(bots.index("b") - bots.index("a")) % seats for bots in tables]
    assert lefts.count(1) >= len(tables) // 2
    skills = {"a": 3.0, "b": 1.0, HOUSE: 0.0}
    matches = comparison.deal_set(1).matches
    scored = [
        replace(
            outcome(match, dict.fromkeys(match.bots, 0.0)),
            scores=tuple(skills[bot] for bot in match.bots),
        )
        for match in matches
    ]
    assert comparison.margin(scored, 1, 0.0) == pytest.approx(2.0)


def test_house_bots_are_those_that_the_arena_launches():
    assert list(HOUSE_BOTS) == [f"house-{level}" for level in HOUSE_BOTS.values()]
