"""Who may do what with competitions over the network, and what is never done for a call."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
import trio

from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs
from arena.bots.bot_python import BOT_PYTHON, bot_python
from arena.bots.tokens import key_id, new_token, token_sha256
from arena.contests.plan import read_plan
from arena.errors import refusal
from arena.live.players import Players, command_of
from arena.results.versions import VersionEvent
from arena.sandbox.command import BadCommand
from arena.sandbox.spawner.order import Level
from arena.store import Key, Scope, Version
from cardarena.v1 import comparisons_pb2, game_pb2, standings_pb2
from cardarena.v1 import competitions_pb2 as messages
from tests.bots.test_archive import BOT, zipped
from tests.contests.played import toml
from tests.fuzz.calls import PLAN, House

SERVICE = "/cardarena.v1.CompetitionService/"


@pytest.fixture
def house(tmp_path):
    with contextlib.ExitStack() as files:
        built = House(tmp_path, files)
        keys, made = built.store.keys(), datetime.now(UTC).replace(microsecond=0)
        built.tokens_of = {}
        for owner, bot in (("alice", "ann-bot"), ("bea", "bea-bot")):
            token = built.tokens_of[owner] = new_token()
            end = made + timedelta(days=1)
            keys.add(Key(key_id(token), token_sha256(token), Scope.BOT, owner, bot, made, end))
        built.arena.tokens.learn(keys.all())
        yield built
        built.loop.run_until_complete(built.loop.shutdown_default_executor())
        built.loop.close()


def ask(house, call, request, who=""):
    """What a call answers, or the reason why not."""
    token = house.organiser if who == "olga" else house.tokens_of.get(who, "")
    method = call if "/" in call else SERVICE + call
    answers, context = house.call(
        method, f"Bearer {token}" if token else "", request.SerializeToString()
    )
    return answers, context.text


def made(house, config=PLAN):
    answers, said = ask(
        house, "CreateCompetition", messages.CreateCompetitionRequest(config=config), "olga"
    )
    assert answers, said
    return house


# fmt: off
MAY = [
    # who       does what         to which bot   may he   why
    ("alice",   "EnterBot",       "ann-bot",     True,    "an owner enters its own bot"),
    ("alice",   "EnterBot",       "bea-bot",     False,   "and no other's"),
    ("olga",    "EnterBot",       "bea-bot",     True,    "an organiser enters any"),
    ("",        "EnterBot",       "ann-bot",     False,   "a guest enters nobody"),
    ("alice",   "WithdrawBot",    "ann-bot",     True,    "an owner withdraws its own bot"),
    ("alice",   "WithdrawBot",    "bea-bot",     False,   "and no other's, please"),
    ("alice",   "DisqualifyBot",  "bea-bot",     False,   "only organisers disqualify"),
    ("olga",    "DisqualifyBot",  "bea-bot",     True,    "as they may"),
    ("",        "DisqualifyBot",  "bea-bot",     False,   "a guest disqualifies nobody"),
]
# fmt: on


@pytest.mark.parametrize(("who", "does", "bot", "may", "why"), MAY, ids=[row[4] for row in MAY])
def test_who_may_do_what_to_which_bot(house, who, does, bot, may, why):
    made(house)
    if does != "EnterBot":
        for each in ("ann-bot", "bea-bot"):
            assert ask(house, "EnterBot", messages.EnterBotRequest(name="d", bot=each), "olga")[0]
    reason = {"reason": "why not"} if does == "DisqualifyBot" else {}
    request = getattr(messages, f"{does}Request")(name="d", bot=bot, **reason)
    answers, _ = ask(house, does, request, who)
    assert bool(answers) == may


@pytest.mark.parametrize(("who", "may"), [("olga", True), ("alice", False), ("", False)])
def test_only_organisers_announce(house, who, may):
    made(house)
    answers, _ = ask(house, "Announce", messages.AnnounceRequest(name="d", text="new rules"), who)
    assert bool(answers) == may
    assert house.service.get("d")[0].announcement == ("new rules" if may else "")


def test_no_call_launches_a_command(house):
    config = f'{PLAN}\n[bots]\nann = "rm -rf /"\n'
    request = messages.CreateCompetitionRequest(config=config)
    assert ask(house, "CreateCompetition", request, "olga") == (
        [],
        refusal("BAD_PLAN").message(
            "[bots] is for competitions in a folder; a call launches no bots"
        ),
    )
    assert house.service.all() == ()


def test_a_disqualified_bot_does_not_come_back(house):
    made(house)
    entered = messages.EnterBotRequest(name="d", bot="ann-bot")
    assert ask(house, "EnterBot", entered, "alice")[0]
    gone = messages.DisqualifyBotRequest(name="d", bot="ann-bot", reason="two accounts")
    assert ask(house, "DisqualifyBot", gone, "olga")[0]
    assert ask(house, "EnterBot", entered, "alice") == (
        [],
        refusal("MAY_NOT_ENTER").message("'ann-bot' was disqualified from 'd': two accounts"),
    )


def test_what_is_read_after_a_write_has_its_effect(house):
    made(house)
    one, every = messages.GetCompetitionRequest(name="d"), messages.ListCompetitionsRequest()

    def states():
        (shown,), _ = ask(house, "GetCompetition", one, "olga")
        (listed,), _ = ask(house, "ListCompetitions", every, "olga")
        return (
            messages.GetCompetitionResponse.FromString(shown).competition.state,
            messages.ListCompetitionsResponse.FromString(listed).competitions[0].state,
        )

    for bot in ("ann-bot", "bea-bot"):
        ask(house, "EnterBot", messages.EnterBotRequest(name="d", bot=bot), "olga")
    assert states() == (messages.COMPETITION_STATE_DRAFT,) * 2
    for action, state in (
        (messages.COMPETITION_ACTION_START, messages.COMPETITION_STATE_RUNNING),
        (messages.COMPETITION_ACTION_PAUSE, messages.COMPETITION_STATE_PAUSED),
    ):
        act = messages.ControlCompetitionRequest(name="d", action=action)
        assert ask(house, "ControlCompetition", act, "olga")[0]
        assert states() == (state,) * 2


def test_an_action_of_whoever_was_slower_is_refused(house):
    made(house)
    start = messages.ControlCompetitionRequest(
        name="d",
        action=messages.COMPETITION_ACTION_START,
        expected_state=messages.COMPETITION_STATE_DRAFT,
    )
    assert ask(house, "ControlCompetition", start, "olga")[0]
    assert (
        "is running, not draft (R-OTHER-STATE)"
        in ask(house, "ControlCompetition", start, "olga")[1]
    )


def test_everybody_may_read_standings_and_rounds(house):
    made(house, toml("swiss"))
    looks = [
        (SERVICE + "GetCompetition", messages.GetCompetitionRequest(name="autumn")),
        (SERVICE + "ListRounds", messages.ListRoundsRequest(name="autumn")),
        (
            "/cardarena.v1.StandingsService/GetStandings",
            standings_pb2.GetStandingsRequest(name="autumn"),
        ),
    ]
    for call, request in looks:
        answers, said = ask(house, call, request)
        assert answers, said


TIMES = "opens = 2026-12-01T18:00:00+01:00\ncloses = 2026-12-24T18:00:00Z"


@pytest.mark.parametrize("config", [PLAN, toml("swiss", head=TIMES)], ids=["ladder", "swiss"])
def test_a_competition_is_told_with_its_times_and_bots(house, config):
    plan = read_plan(config)
    name = plan.name
    made(house, config)
    for bot in ("ann-bot", "bea-bot"):
        assert ask(house, "EnterBot", messages.EnterBotRequest(name=name, bot=bot), "olga")[0]
    gone = messages.DisqualifyBotRequest(name=name, bot="ann-bot", reason="two accounts")
    assert ask(house, "DisqualifyBot", gone, "olga")[0]
    (answer,), _ = ask(house, "GetCompetition", messages.GetCompetitionRequest(name=name))
    sent = messages.GetCompetitionResponse.FromString(answer).competition
    assert [sent.opens_unix_ms, sent.closes_unix_ms] == [
        0 if moment is None else moment.timestamp() * 1000 for moment in (plan.opens, plan.closes)
    ]
    assert (sent.state, sent.entered) == (messages.COMPETITION_STATE_DRAFT, 1)
    assert {(bot.bot, bot.owner, bot.out, bot.reason) for bot in sent.bots} == {
        ("ann-bot", "alice", messages.COMPETITION_EXIT_DISQUALIFIED, "two accounts"),
        ("bea-bot", "bea", messages.COMPETITION_EXIT_UNSPECIFIED, ""),
    }


def test_comparisons_are_for_the_owners_versions_only(house):
    request = comparisons_pb2.CreateComparisonRequest(
        first="bea-bot@2",
        second="bea-bot@1",
        terms=game_pb2.MatchTerms(game="sixty_six", seats=2),
    )
    _, said = ask(house, "/cardarena.v1.ComparisonService/CreateComparison", request, "alice")
    assert "there is no version 'bea-bot@2' of yours: name it as in my-bot@7" in said


def test_an_owner_challenges_with_its_own_bot_only(house):
    for bot, why in (("bea-bot", "no submitted bot"), ("house-sample", "of yours")):
        request = comparisons_pb2.CreateComparisonRequest(
            first=bot,
            second="house-random",
            terms=game_pb2.MatchTerms(game="sixty_six", seats=2),
            challenge=True,
        )
        _, said = ask(house, "/cardarena.v1.ComparisonService/CreateComparison", request, "alice")
        assert why in said


class Sandbox:
    def __init__(self, level):
        self.level = level


@pytest.mark.parametrize("level", [None, *Level])
def test_what_was_uploaded_is_launched_behind_a_sandbox_alone(tmp_path, level):
    sha256, _ = Blobs(tmp_path).keep(read_archive(zipped(tmp_path / "bot.zip", BOT)))
    version = Version(
        "ann", 7, sha256, {"command": ["python", "bot.py"]}, "", None, VersionEvent.ACTIVE
    )

    async def main():
        async with trio.open_nursery() as nursery:
            sandbox = None if level is None else Sandbox(level)
            players = Players(None, tmp_path, tmp_path, nursery, sandbox=sandbox)
            if level in (Level.S2, Level.S3):
                assert players.add_version(version).name == "ann@7"
            else:
                with pytest.raises(BadCommand, match="is not launched at sandbox level"):
                    players.add_version(version)

    trio.run(main)
    command = command_of(version, tmp_path)
    python = bot_python(tmp_path / BOT_PYTHON)
    assert command.argv[0] == str(python), "the Python that has the SDK and nothing of the arena's"
    assert command.argv[1] == str(tmp_path / "unpacked" / sha256 / "bot.py")


def test_a_version_whose_files_are_gone_is_not_launched(tmp_path):
    version = Version(
        "ann", 7, "a" * 64, {"command": ["python", "bot.py"]}, "", None, VersionEvent.ACTIVE
    )
    with pytest.raises(BadCommand, match="the files of ann@7 are missing"):
        command_of(version, tmp_path)
