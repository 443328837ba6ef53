"""`arena compare my-bot@7 my-bot@6`: a comparison that an owner asks an arena for, and follows."""

import contextlib
import json
import re
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from arena.cli import arena_client, comparisons, main
from arena.cli.comparisons import details
from arena.cli.options import ChosenTerms
from arena.cli.terminal import console
from arena.errors import exits
from arena.games.catalogue import game_by_id
from arena.referee.terms import TimeControl
from cardarena.v1 import comparisons_pb2

OPEN = comparisons_pb2.Comparison(
    id=3,
    first="my-bot@7",
    second="my-bot@6",
    state="COMPARISON_STATE_OPEN",
    mean=0.5,
    e_value=2.0,
    deal_sets=9,
)
DECIDED = comparisons_pb2.Comparison(
    id=3,
    first="my-bot@7",
    second="my-bot@6",
    state="COMPARISON_STATE_DECIDED",
    reason="it is decided",
    decision="COMPARISON_DECISION_BETTER",
    mean=4.25,
    low=0.5,
    high=8.0,
    e_value=23.0,
    deal_sets=40,
    number_of_owner=2,
    holds_among_all=True,
)
STOPPED = comparisons_pb2.Comparison(
    id=3,
    first="my-bot@7",
    second="my-bot@6",
    state="COMPARISON_STATE_STOPPED",
    reason="its owner stopped it",
    mean=0.5,
    e_value=2.0,
    deal_sets=10,
    number_of_owner=2,
    needed_mid=690,
    needed_low=320,
)


class Service:
    """`ComparisonService`, which has these verdicts for who looks; one that is an error is raised."""

    def __init__(self, *looks):
        self.looks = list(looks)
        self.asked = self.cancelled = None

    def CreateComparison(self, request, **_):
        self.asked = request
        return SimpleNamespace(comparison=OPEN)

    def GetComparison(self, request, **_):
        assert request.id == OPEN.id
        found = self.looks.pop(0)
        if isinstance(found, BaseException):
            raise found
        return SimpleNamespace(comparison=found)

    def ListComparisons(self, request, **_):
        return SimpleNamespace(comparisons=self.looks, next_page_token="")

    def CancelComparison(self, request, **_):
        self.cancelled = request.id
        return SimpleNamespace(comparison=STOPPED)


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Compares two versions at an arena of these looks; what was printed, and the service."""

    def ask(
        service, *arguments, command=("compare", "my-bot@7", "my-bot@6", "--game", "sixty_six")
    ):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        monkeypatch.setattr(arena_client, "channel_of", lambda _: contextlib.nullcontext())
        monkeypatch.setattr(comparisons, "ComparisonServiceStub", lambda channel: service)
        monkeypatch.setattr(comparisons, "POLL_S", 0.0)
        return CliRunner().invoke(main, [*command, *arguments])

    return ask


def test_a_question_is_followed_until_it_is_decided(asked):
    service = Service(OPEN, OPEN, DECIDED)
    told = asked(service, "--each-other", "--deal-sets", "900")
    assert told.exit_code == 0, told.output
    assert "my-bot@7 is better than my-bot@6: +4.25 points a match" in told.stdout
    assert (
        "Comparison 3, number 2 of yours: it is decided, and holds also among all of them."
        in told.stdout
    )
    assert (service.asked.first, service.asked.second) == ("my-bot@7", "my-bot@6")
    assert (service.asked.terms.game, service.asked.terms.seats) == ("sixty_six", 2)
    assert (service.asked.each_other, service.asked.max_deal_sets) == (True, 900)


CHALLENGE = ("challenge", "my-bot", "rival", "--game", "loo", "--seats", "6")


def test_a_challenge_is_requested_for_a_bot_and_another(asked):
    decided = comparisons_pb2.Comparison(challenge=True)
    decided.MergeFrom(DECIDED)
    service = Service(decided)
    told = asked(service, "--follow", "--deal-sets", "32", command=CHALLENGE)
    assert told.exit_code == 0, told.output
    assert "Challenge 3, number 2 of yours" in told.stdout
    assert (service.asked.first, service.asked.second) == ("my-bot", "rival")
    assert (service.asked.challenge, service.asked.max_deal_sets) == (True, 32)
    assert (service.asked.terms.game, service.asked.terms.seats) == ("loo", 6)


def test_challenges_of_the_owners_bots_are_listed_and_declined(asked):
    other = comparisons_pb2.Comparison(
        id=9, challenge=True, first="rival@2", second="my-bot@7", deal_sets=4, limit=16,
        state=comparisons_pb2.COMPARISON_STATE_OPEN,
    )  # fmt: skip
    listed = asked(Service(other), "--received", command=("challenge",))
    assert listed.exit_code == 0, listed.output
    assert re.search(r"9 +rival@2 +my-bot@7 +open +4 of 16 +not decided", listed.stdout)
    assert (
        "No bot of yours was challenged"
        in asked(Service(), "--received", command=("challenge",)).stdout
    )
    service = Service()
    assert asked(service, "--decline", "9", command=("challenge",)).exit_code == 0
    assert service.cancelled == 9


def test_a_submitted_version_climbs_by_challenges_until_one_is_not_beaten(asked, tmp_path):
    looks = []
    for decision in ("BETTER", "WORSE"):
        looks.append(comparisons_pb2.Comparison())
        looks[-1].MergeFrom(DECIDED)
        looks[-1].decision = comparisons_pb2.ComparisonDecision.Value(
            f"COMPARISON_DECISION_{decision}"
        )
    service, badge = Service(*looks), tmp_path / "rung.svg"
    climb = ("climb", "my-bot@7", "--game", "sixty_six", "--badge", str(badge))
    told = asked(service, command=climb)
    assert told.exit_code == 0, told.output
    assert "my-bot@7 is on rung 1 of 4.\nIt is worse against house-sample." in told.stdout
    assert (service.asked.second, service.asked.max_deal_sets) == ("house-sample", 64)
    assert "rung 1 of 4, above house-random" in badge.read_text()


# fmt: off
MISUSED = [
    (("challenge",),                                              "name your bot, the opponent and --game",  "neither a challenge nor a list"),
    (("challenge", "--received", "--decline", "3"),               "give --received or --decline ID alone",   "two requests"),
    (("challenge", "my-bot", "rival", "--received"),              "give --received or --decline ID alone",   "a challenge and a list"),
    (("compare", "my-bot@7", "my-bot@6", "--game", "jam", "--time-odds", "my-bot=0.5"), "leave --time-odds out", "an arena's clock"),
    (("climb", "my-bot@7", "--game", "jam", "--in-process"),      "an arena plays submitted versions",         "a climb at an arena and here"),
]
# fmt: on


@pytest.mark.parametrize(("command", "words", "why"), MISUSED, ids=[row[-1] for row in MISUSED])
def test_what_is_not_asked_of_an_arena_is_said_before(asked, command, words, why):
    told = asked(Service(), command=command)
    assert told.exit_code == 2
    assert words in " ".join(told.stderr.split())


def test_ctrl_c_stops_the_question_at_the_arena(asked):
    service = Service(OPEN, KeyboardInterrupt())
    told = asked(service)
    assert service.cancelled == OPEN.id
    assert told.exit_code == exits.UNDECIDED
    assert "not decided: +0.50" in told.stdout
    assert "about 690 more (320 … without end)" in told.stdout


def test_a_program_reads_the_same(asked):
    told = json.loads(asked(Service(DECIDED), "--json").stdout)
    assert (told["decision"], told["e_value"]) == ("COMPARISON_DECISION_BETTER", 23.0)
    assert "needed_mid" not in told
    assert (told["first"], told["game"], told["state"]) == (
        "my-bot@7",
        "sixty_six",
        "COMPARISON_STATE_DECIDED",
    )


# fmt: off
MISTAKES = [
    (("--against", "./rival"), "against its own field",  "opponents are the arena's"),
    (("--seed", "q7"),         "draws the deals",        "deals of an arena are fair"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "said", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_what_an_arena_does_not_do_is_said(asked, arguments, said, why):
    service = Service()
    told = asked(service, *arguments)
    assert told.exit_code == 2, why
    assert said in " ".join(told.stderr.split())
    assert service.asked is None


# fmt: off
FORECASTS = [
    # likely, fewest, most       said                                              why
    ((690, 320, 2_600),          "about 690 more (320 … 2,600)",                   "three numbers"),
    ((690, 320, 1_000_000),      "about 690 more (320 … over 1,000,000)",          "the most is beyond all play"),
    ((1_000_000, 320, None),     "; over 1,000,000 more (320 … without end)",      "as is the likely one"),
]
# fmt: on


@pytest.mark.parametrize(("needed", "said", "why"), FORECASTS, ids=[row[-1] for row in FORECASTS])
def test_a_forecast_is_told_up_to_a_million(asked, needed, said, why):
    likely, fewest, most = needed
    stopped = comparisons_pb2.Comparison()
    stopped.CopyFrom(STOPPED)
    stopped.needed_mid, stopped.needed_low = likely, fewest
    if most is not None:
        stopped.needed_high = most
    assert said in asked(Service(stopped)).stdout


def test_progress_is_told_in_lines_where_there_is_no_terminal(capsys):
    clock = iter([0.0, 3.0, 10.0, 10.0, 12.0, 25.0, 25.0])
    with console.progress("waiting", now_s=lambda: next(clock)) as tell:
        for number in range(4):
            tell(f"{number} deal-sets")
    assert capsys.readouterr().err.splitlines() == ["waiting", "1 deal-sets", "3 deal-sets"]


def test_a_line_of_progress_is_not_repeated(capsys):
    clock = iter(range(0, 1000, 60))
    with console.progress("waiting", now_s=lambda: next(clock)) as tell:
        for line in ("waiting", "1 deal-set", "1 deal-set", "2 deal-sets"):
            tell(line)
    assert capsys.readouterr().err.splitlines() == ["waiting", "1 deal-set", "2 deal-sets"]


def test_a_followed_question_tells_its_progress_on_standard_error(asked):
    told = asked(Service(OPEN, DECIDED))
    assert told.stderr.splitlines() == ["waiting for the arena"]
    assert asked(Service(OPEN, DECIDED), "--json").stderr == ""


def test_names_in_the_list_are_not_cut(asked, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = comparisons_pb2.Comparison()
    long.CopyFrom(DECIDED)
    long.first = long.second = f"{'b' * 60}@7"
    told = asked(Service(long), command=("comparisons",)).stdout
    assert told.count("b") >= 2 * 60
    assert "…" not in told


# fmt: off
VERBS = [
    # command                                   looks               said                                              why
    (("comparisons",),                          (OPEN, DECIDED),    ["my-bot@7", "open", "not", "decided", "better"], "a list"),
    (("comparisons", "list"),                   (),                 ["You have requested no comparison yet."],        "an empty list"),
    (("comparisons", "show", "3"),              (OPEN,),            ["Comparison 3, number 0 of yours: open."],       "one that is open"),
    (("comparisons", "show", "3", "--follow"),  (OPEN, DECIDED),    ["it is decided, and holds"],                     "one that is followed"),
    (("comparisons", "cancel", "3"),            (),                 ["its owner stopped it"],                         "one that is stopped"),
]
# fmt: on


@pytest.mark.parametrize(("command", "looks", "said", "why"), VERBS, ids=[row[-1] for row in VERBS])
def test_comparisons_are_listed_shown_and_cancelled(asked, command, looks, said, why):
    service = Service(*looks)
    told = asked(service, command=command)
    assert told.exit_code == 0, told.output
    assert [each for each in said if each not in told.stdout] == []
    assert (service.cancelled == 3) == ("cancel" in command)
    as_json = asked(Service(*looks), command=(*command, "--json"))
    found = json.loads(as_json.stdout)
    if found.get("comparisons") != [] and "list" not in command:
        first = found["comparisons"][0] if command == ("comparisons",) else found
        assert (first["id"], first["first"], first["second"]) == (3, "my-bot@7", "my-bot@6")


# fmt: off
TOLD = [
    # bound in sd, at least, decision, more often, told                                              why
    (None,  None,  None,     None,    [],                                                   "after one deal-set"),
    (34.0,  125,   None,     None,    ["34.0 standard deviations, so", "at least 125 deal-sets"], "a loose bound"),
    (6.0,   22,    "BETTER", None,    ["6.0 standard deviations."],                         "a decision needs no more"),
    (6.0,   22,    None,     "WORSE", ["ann@2 scores more in more deal-sets (E = 31)"],     "signs are told apart"),
]
# fmt: on


@pytest.mark.parametrize(
    ("bound", "at_least", "decision", "often", "told", "why"), TOLD, ids=[row[5] for row in TOLD]
)
def test_what_a_bound_costs_and_who_scores_more_often(bound, at_least, decision, often, told, why):
    comparison = comparisons_pb2.Comparison(
        first="ann@3",
        second="ann@2",
        bound_in_deviations=bound,
        at_least=at_least,
        decision=f"COMPARISON_DECISION_{decision or 'UNSPECIFIED'}",
        more_often=f"COMPARISON_DECISION_{often or 'UNSPECIFIED'}",
        more_often_e_value=31.0,
    )
    text = details(comparison)
    assert bool(text) == bool(told)
    for each in told:
        assert each in text


# fmt: off
ESTIMATES = [
    # low     high    needed  decision  told                                                                why
    (None,    None,   None,   None,     [],                                                                 "too few deal-sets"),
    (2.33,    2.97,   148,    None,     ["ann@3 is probably better than ann@2: a plain estimate is +2.65 ± 0.32 (95 %).",
                                         "only if 64 deal-sets were chosen before play, and not by the result",
                                         "the test that may be stopped at any time needs about 212 deal-sets in all."], "it lies above zero"),
    (-2.97,  -2.33,   None,   None,     ["ann@3 is probably worse than ann@2", "not by the result."],       "it lies below zero"),
    (-0.10,   0.54,   10**6,  None,     ["which does not say who is better", "needs over 1,000,000"],       "zero is in it"),
    (2.33,    2.97,   None,   "BETTER", ["+2.65 ± 0.32 (95 %). Play stopped by the result"],                "it is decided"),
]
# fmt: on


@pytest.mark.parametrize(
    ("low", "high", "needed", "decision", "told", "_why"),
    ESTIMATES,
    ids=[row[-1] for row in ESTIMATES],
)
def test_a_plain_estimate_says_when_it_holds(low, high, needed, decision, told, _why):
    comparison = comparisons_pb2.Comparison(
        first="ann@3",
        second="ann@2",
        mean=0.0 if low is None else (low + high) / 2,
        deal_sets=64,
        plain_low=low,
        plain_high=high,
        needed_mid=needed,
        decision=f"COMPARISON_DECISION_{decision or 'UNSPECIFIED'}",
    )
    text = details(comparison)
    assert bool(text) == bool(told)
    for phrase in told:
        assert phrase in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("--sandbox", "require"), "choose one of --in-process", id="a sandbox"),
        pytest.param(
            (), "an arena plays submitted versions in its sandbox", id="an arena's versions"
        ),
    ],
)
def test_what_is_not_compared_in_one_process(asked, words, said):
    told = asked(Service(), "--in-process", *words)
    assert told.exit_code == 2
    assert said in told.stderr


@pytest.mark.parametrize(
    ("given", "hands"),
    [
        pytest.param((), 2, id="each seat deals once"),
        pytest.param(("hands=6",), 6, id="as many as are asked for"),
        pytest.param(("target=100",), 0, id="a race, if it has a target"),
    ],
)
def test_comparisons_are_of_short_matches(given, hands):
    chosen = ChosenTerms(given, TimeControl())
    assert (
        chosen.of(game_by_id("klaberjass"), None, seeded=True, shortest=True).options.hands == hands
    )
    assert chosen.of(game_by_id("klaberjass"), None, seeded=True).options.hands in {hands, 0}
