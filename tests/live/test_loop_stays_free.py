"""What clients may ask for does no file work on the loop, on which all bots wait, and little else.

The worst that each call, and each message of a play stream, can hold is asked of an arena with
many bots, matches in play and matches that ended.

Nothing is timed: what the loop's thread calls is counted, from one callback of the loop to the
next. A thousand calls of Python take well under a millisecond.
"""

import asyncio
import contextlib
import io
import os
import sqlite3
import sys
from datetime import UTC, datetime, timedelta

import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import _async as reflection_aio
from grpc_reflection.v1alpha import reflection_pb2

from arena.api.admission.access import CALLS, Access
from arena.api.health import Health
from arena.api.pages import MAX_PAGE_SIZE
from arena.bots.logs import logs_folder
from arena.contests.comparison_requests import ComparisonQuery
from arena.contests.draws import next_round
from arena.contests.plan import read_plan
from arena.errors.refused import Refused
from arena.games.catalogue import game_by_id
from arena.live.event_buffers import HAND_EVENTS
from arena.live.matches.match_record import MatchRecord
from arena.live.orders import BY_HAND
from arena.live.session.limits import MAX_MESSAGE_BYTES, MAX_OPEN_ASKS, MAX_SENT_BYTES
from arena.referee.events import OpenHands
from arena.referee.spec import Ending, Outcome, SeatedBot
from arena.referee.terms import MatchTerms
from arena.results.deal_sets import MatchOutcome
from arena.results.qualification_report import Check, QualificationReport
from arena.results.states import Action
from arena.store import BotKind, CompetitionEntry, StoredMatch, open_store
from arena.store.comparison_requests import Quota
from arena.testing.deals import SeededDeals
from arena.testing.orders import match_order, match_request
from cardarena.v1 import (
    bots_pb2,
    comparisons_pb2,
    competitions_pb2,
    game_pb2,
    keys_pb2,
    lobby_pb2,
    owners_pb2,
    play_pb2,
    replay_pb2,
    standings_pb2,
    watch_pb2,
)
from tests.bots.test_archive import BOT, zipped
from tests.contests.played import outcome, toml
from tests.doubles.calls import Call
from tests.fuzz.calls import House
from tests.live.sittings import World

REPLAY_BYTES = 44_000
MATCHES = 300
IN_PLAY, BOTS = 2_000, 3_000
COMPETITORS = 100
"""As many as a competition is planned to have."""
VERSIONS, LOGS, OWNERS = 120, 120, 120
MOST_CALLS = 5_000
"""Of Python in one callback of the loop: about a millisecond."""
OF_FILES = (io.IOBase, sqlite3.Cursor, sqlite3.Connection)


class LoopMonitor:
    """Notes what the thread of a loop does that reaches files, and how much it calls in one go."""

    def __init__(self):
        self.file_calls = []
        self.longest = self._calls = 0

    @contextlib.contextmanager
    def running(self):
        before = sys.getprofile()
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(before)
        self.longest = max(self.longest, self._calls)

    def _note(self, frame, event, called):
        if event == "call":
            if frame.f_code is asyncio.Handle._run.__code__:
                self.longest, self._calls = max(self.longest, self._calls), 0
            self._calls += 1
        elif event == "c_call":
            self._calls += 1
            module, of = getattr(called, "__module__", ""), getattr(called, "__self__", None)
            name = called.__name__
            reaches = module in ("posix", "_io", "_sqlite3") or isinstance(of, OF_FILES)
            where = frame.f_back.f_code.co_qualname
            if reaches and name not in FREE and where not in EVERY_DECISION:
                self.file_calls.append(name)


EVERY_DECISION = {"AppendLog.flush"}
"""The journal takes a few bytes without waiting for the disk, as for each answer of a bot."""
FREE = {"close", "__exit__", "__enter__", "fspath", "fileno", "getpid", "urandom", "cpu_count"}
"""Take no time that grows with anything; `cpu_count` is of the first use of a pool of threads."""


def ended(number):
    outcome = MatchOutcome(
        f"match-{number:04}", (1, -1), (1, 2), "completed", ({}, {}), decisions=9, hands=1
    )
    return StoredMatch(outcome, "abstrac", ("ann", "bob"), "", 1_000 + number)


def watched(feeds):
    """Matches that may be watched, more than a page of them; two are over, and had the longest hand."""
    game = game_by_id("pineapple")
    options = game.options({"hands": 2}, 2)
    state, told = game.rules.start(options, 2, SeededDeals("watched"))
    events = [event for event, seats in told if seats is None]
    for number in range(MATCHES):
        feed = feeds.open(f"watched-{number}" if number else "watched")
        feed.opened(
            feed.match_id, MatchTerms(game, options, 2), [SeatedBot("ann"), SeatedBot("bob")]
        )
        for _ in range(1 if number else HAND_EVENTS):
            feed.stepped(0, events, lambda: game.rules.view(state, None))
    feed = feeds.open("open", hands_open=True)
    feed.opened("open", MatchTerms(game, options, 2), [SeatedBot("ann"), SeatedBot("bob")])
    for _ in range(HAND_EVENTS):
        hands = OpenHands(told, lambda seat: game.rules.view(state, seat))
        feed.stepped(0, events, lambda: game.rules.view(state, None), (), hands)
    for match_id in ("watched", "open"):
        feeds.get(match_id).closed(Outcome(match_id, Ending.ABORTED, (), (), (), (), 0))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """An arena with as many matches and replays as fill several of the longest pages."""
    folder = tmp_path_factory.mktemp("house")
    with contextlib.ExitStack() as files:
        store = files.enter_context(open_store(folder / "arena.db"))
        matches = store.matches()
        matches.record([ended(number) for number in range(MATCHES)])
        matches.mark_published([f"match-{number:04}" for number in range(MATCHES)])
        built = House(folder, files, results=matches)
        for number in range(MATCHES):
            (built.arena.replays / f"match-{number:04}.replay").write_bytes(bytes(REPLAY_BYTES))
        for number in range(BOTS):
            built.come(f"bot-{number:04}")
        for number in range(IN_PLAY):
            order = match_order(
                "abstrac", (f"bot-{number:04}", f"bot-{number + 1:04}"), {"hands": 2}, seed="s"
            )
            match = MatchRecord.ordered(order, order.deal_set, BY_HAND)
            built.arena.matches.in_play.add(match)
        registry, now = built.intake.registry, datetime.now(UTC)
        registry.create_bot("upload", "own", BotKind.UPLOADED, now=now)
        registry.create_bot("remote", "own", BotKind.REMOTE, now=now)
        for number in range(VERSIONS):
            registry.dialled_in("remote", str(number), now=now - timedelta(days=VERSIONS - number))
        checks = [Check(f"game-{n}", passed=False, seats=2, problem="x" * 300) for n in range(38)]
        report = QualificationReport("0" * 64, "q7", 41.0, tuple(checks)).as_json()
        registry.keep_report("remote", VERSIONS, report, now=now)
        logs = logs_folder(folder, registry.version("remote", VERSIONS))
        logs.mkdir(parents=True)
        for number in range(LOGS):
            (logs / f"{number:03}.log").write_bytes(bytes(REPLAY_BYTES))
        for number in range(OWNERS):
            built.intake.register(built.intake.invite(f"owner-{number:03}", "org"))
        archive = zipped(
            folder / "bot.zip", BOT | {f"{n}.bin": os.urandom(2_000) for n in range(99)}
        )
        WORST[SUBMIT].extend(_pieces_of(archive.read_bytes()))
        WORST["/cardarena.v1.OwnerService/Register"].code = built.intake.invite("new", "org")
        competition(built)
        watched(built.arena.matches.spectators)
        yield built
        built.loop.run_until_complete(built.loop.shutdown_default_executor())
        built.loop.close()


def competition(built):
    """A finished competition of as many bots and deal-sets as fill several pages, and a question."""
    service, held = built.service, built.store.competitions()
    names = [f"bot-{number:02}" for number in range(COMPETITORS)]
    text = toml("swiss", deal_sets=5, own="rounds = 6")
    service.create(
        text,
        who="org",
        bots=[CompetitionEntry(name, name, BotKind.COMMAND, "x", name) for name in names],
    )
    service.control("autumn", Action.START, who="org")
    skills = {name: -float(at) for at, name in enumerate(names)}
    plan = read_plan(text)
    while (drawn := next_round(plan, 0, (r := held.record("autumn")).candidates, r.games[0].past())) is not None:  # fmt: skip
        held.keep_round("autumn", 0, drawn.round, drawn.deal_sets)
        deal_sets = held.deal_sets("autumn", 0)
        for drawn_plan in deal_sets.take(999):
            told = {match.id: outcome(match, skills) for match in drawn_plan.matches}
            pair = WORST["/cardarena.v1.StandingsService/GetPair"]
            pair.bot, pair.other = drawn_plan.matches[0].bots  # who have met
            deal_sets.report_many([(drawn_plan, told)], now_unix_ms=1)
    service.control("autumn", Action.FINISH, who="org")
    ask = ComparisonQuery(
        "ann@2", "ann@1", plan.games[0].terms, each_other=False, most=9, same_within=None
    )
    questions = built.store.comparison_requests()
    now = datetime.now(UTC)
    for _ in range(2):
        number = questions.create("org", ask.as_json(()), now=now, quota=Quota(9, 9, 9)).id
        questions.keep_margins(number, [0.5, -0.25] * 2_000, 1, now=now)


def _pieces_of(data):
    for at in range(0, len(data), 65_536):
        yield bots_pb2.SubmitVersionRequest(piece=data[at : at + 65_536])


LONGEST = 2**32 - 1
SUBMIT = "/cardarena.v1.BotService/SubmitVersion"
WORST = {
    "/cardarena.v1.LobbyService/ListGames": lobby_pb2.ListGamesRequest(),
    "/cardarena.v1.LobbyService/CreateMatch": match_request(
        "abstrac", ["ann", "bob"], {"hands": 20}, seed="s"
    ),
    "/cardarena.v1.LobbyService/GetMatch": lobby_pb2.GetMatchRequest(match_id="match-0000"),
    "/cardarena.v1.LobbyService/ListMatches": lobby_pb2.ListMatchesRequest(page_size=LONGEST),
    "/cardarena.v1.LobbyService/ListPlayedGames": lobby_pb2.ListPlayedGamesRequest(),
    "/cardarena.v1.LobbyService/ListPlayedBots": lobby_pb2.ListPlayedBotsRequest(page_size=LONGEST),
    "/cardarena.v1.LobbyService/ListBots": lobby_pb2.ListBotsRequest(page_size=LONGEST),
    "/cardarena.v1.ReplayService/GetReplay": replay_pb2.GetReplayRequest(replay_id="match-0000"),
    "/cardarena.v1.WatchService/Watch": watch_pb2.WatchRequest(match_id="watched"),
    "/cardarena.v1.WatchService/ListLive": watch_pb2.ListLiveRequest(),
    "/cardarena.v1.ReplayService/InspectMatch": replay_pb2.InspectMatchRequest(
        match_id="match-0000"
    ),
    "/cardarena.v1.CompetitionService/CreateCompetition": (
        competitions_pb2.CreateCompetitionRequest(
            config=toml("swiss").replace("autumn", "winter") + "#" * 19_000
        )
    ),
    "/cardarena.v1.CompetitionService/ControlCompetition": (
        competitions_pb2.ControlCompetitionRequest(
            name="autumn", action=competitions_pb2.COMPETITION_ACTION_FREEZE
        )
    ),
    "/cardarena.v1.CompetitionService/EnterBot": competitions_pb2.EnterBotRequest(
        name="summer", bot="keyed"
    ),
    "/cardarena.v1.CompetitionService/WithdrawBot": competitions_pb2.WithdrawBotRequest(
        name="autumn", bot="bot-01"
    ),
    "/cardarena.v1.CompetitionService/DisqualifyBot": competitions_pb2.DisqualifyBotRequest(
        name="autumn", bot="bot-02", reason="x" * 9_000
    ),
    "/cardarena.v1.CompetitionService/ReinstateBot": competitions_pb2.ReinstateBotRequest(
        name="autumn", bot="bot-02", reason="x" * 9_000
    ),
    "/cardarena.v1.CompetitionService/DeleteCompetition": (
        competitions_pb2.DeleteCompetitionRequest(name="autumn")
    ),
    "/cardarena.v1.CompetitionService/Announce": competitions_pb2.AnnounceRequest(
        name="autumn", text="x" * 2_000
    ),
    "/cardarena.v1.CompetitionService/EstimateCompetition": (
        competitions_pb2.EstimateCompetitionRequest(config=toml("swiss") + "#" * 19_000)
    ),
    "/cardarena.v1.CompetitionService/DropWorker": competitions_pb2.DropWorkerRequest(
        name="autumn", worker="m1", reason="x" * 9_000
    ),
    "/cardarena.v1.CompetitionService/ListSpotChecks": competitions_pb2.ListSpotChecksRequest(
        name="autumn"
    ),
    "/cardarena.v1.CompetitionService/GetCompetition": competitions_pb2.GetCompetitionRequest(
        name="autumn"
    ),
    "/cardarena.v1.CompetitionService/ListCompetitions": (
        competitions_pb2.ListCompetitionsRequest(page_size=LONGEST)
    ),
    "/cardarena.v1.CompetitionService/ListRounds": competitions_pb2.ListRoundsRequest(
        name="autumn", page_size=LONGEST
    ),
    "/cardarena.v1.CompetitionService/WatchCompetition": (
        competitions_pb2.WatchCompetitionRequest(name="autumn")
    ),
    "/cardarena.v1.StandingsService/GetStandings": standings_pb2.GetStandingsRequest(name="autumn"),
    "/cardarena.v1.StandingsService/GetPair": standings_pb2.GetPairRequest(
        name="autumn", bot="bot-00", other="bot-01"
    ),
    "/cardarena.v1.StandingsService/ExportStandings": standings_pb2.ExportStandingsRequest(
        name="autumn"
    ),
    # A whole report takes minutes, in a process of its own.
    "/cardarena.v1.StandingsService/GetCollusion": standings_pb2.GetCollusionRequest(
        name="autumn", without=["nobody"]
    ),
    "/cardarena.v1.ComparisonService/CreateComparison": comparisons_pb2.CreateComparisonRequest(
        first="ann@2", second="ann@1", terms=game_pb2.MatchTerms(game="sixty_six", seats=2)
    ),
    "/cardarena.v1.ComparisonService/GetComparison": comparisons_pb2.GetComparisonRequest(id=1),
    "/cardarena.v1.ComparisonService/ListComparisons": comparisons_pb2.ListComparisonsRequest(
        page_size=LONGEST
    ),
    "/cardarena.v1.ComparisonService/CancelComparison": comparisons_pb2.CancelComparisonRequest(
        id=2
    ),
    "/cardarena.v1.KeyService/CreateKey": keys_pb2.CreateKeyRequest(
        scope=keys_pb2.KEY_SCOPE_ORGANISER, owner="organiser"
    ),
    "/cardarena.v1.KeyService/SignIn": keys_pb2.SignInRequest(label="x" * 60_000),
    "/cardarena.v1.KeyService/ListProviders": keys_pb2.ListProvidersRequest(),
    "/cardarena.v1.KeyService/BeginSignIn": keys_pb2.BeginSignInRequest(provider="x" * 60_000),
    "/cardarena.v1.KeyService/FinishSignIn": keys_pb2.FinishSignInRequest(
        provider="x", state="x" * 30_000, code="x" * 30_000
    ),
    "/cardarena.v1.KeyService/LinkIdentity": keys_pb2.LinkIdentityRequest(proof="x" * 60_000),
    "/cardarena.v1.KeyService/GetKey": keys_pb2.GetKeyRequest(),
    "/cardarena.v1.KeyService/ListKeys": keys_pb2.ListKeysRequest(page_size=LONGEST),
    "/cardarena.v1.KeyService/RevokeKey": keys_pb2.RevokeKeyRequest(key_id="Xy3kPq9A"),
    "/cardarena.v1.OwnerService/Register": owners_pb2.RegisterRequest(),
    "/cardarena.v1.OwnerService/Invite": owners_pb2.InviteRequest(owner="somebody"),
    "/cardarena.v1.OwnerService/Ban": owners_pb2.BanRequest(owner="owner-007", reason="x"),
    "/cardarena.v1.OwnerService/ListInvitations": owners_pb2.ListInvitationsRequest(
        page_size=LONGEST
    ),
    "/cardarena.v1.OwnerService/ListOwners": owners_pb2.ListOwnersRequest(page_size=LONGEST),
    "/cardarena.v1.WebhookService/CreateWebhook": owners_pb2.CreateWebhookRequest(
        url=f"https://bots.example/{'x' * 400}"
    ),
    "/cardarena.v1.WebhookService/ListWebhooks": owners_pb2.ListWebhooksRequest(),
    "/cardarena.v1.WebhookService/DeleteWebhook": owners_pb2.DeleteWebhookRequest(id=7),
    "/cardarena.v1.WebhookService/TestWebhook": owners_pb2.TestWebhookRequest(id=7),
    "/cardarena.v1.BotService/CreateBot": bots_pb2.CreateBotRequest(bot="new-bot", kind=1),
    "/cardarena.v1.BotService/ListOwnedBots": bots_pb2.ListOwnedBotsRequest(),
    "/cardarena.v1.BotService/CreateToken": bots_pb2.CreateTokenRequest(bot="remote"),
    SUBMIT: [bots_pb2.SubmitVersionRequest(bot="upload")],
    "/cardarena.v1.BotService/SetVersionState": bots_pb2.SetVersionStateRequest(
        bot="remote", version=VERSIONS, state=bots_pb2.VERSION_STATE_INACTIVE
    ),
    "/cardarena.v1.BotService/GetReport": bots_pb2.GetReportRequest(bot="remote"),
    "/cardarena.v1.BotService/ListVersions": bots_pb2.ListVersionsRequest(
        bot="remote", page_size=LONGEST
    ),
    "/cardarena.v1.BotService/ListLogs": bots_pb2.ListLogsRequest(bot="remote", page_size=LONGEST),
    "/cardarena.v1.BotService/GetLog": bots_pb2.GetLogRequest(bot="remote", log="007.log"),
}
"""The request of each call that takes most work."""
ONCE = {
    "/cardarena.v1.CompetitionService/CreateCompetition",
    "/cardarena.v1.OwnerService/Register",
    "/cardarena.v1.BotService/CreateBot",
    "/cardarena.v1.BotService/SetVersionState",
    SUBMIT,
}
"""Calls that can be answered once: a second time they are refused."""


def test_every_call_that_is_asked_something_is_watched():
    assert {*GRPCS} == {call for call, access in CALLS.items() if access is Access.OPEN}
    # Workers are machines of the organiser, whose messages have tests of their own.
    # The arena's own pages call twice for a match of a person.
    others = (Access.OPEN, Access.HELLO, Access.WORK, Access.SITE)
    calls = {call for call, access in CALLS.items() if access not in others}
    assert {*WORST} == calls, (
        "a call of CALLS needs a line in WORST; if that request is refused, also in REFUSED"
    )


REFUSED = {
    "/cardarena.v1.CompetitionService/DeleteCompetition",
    "/cardarena.v1.CompetitionService/DropWorker",
    "/cardarena.v1.CompetitionService/EnterBot",
    "/cardarena.v1.CompetitionService/ReinstateBot",
    "/cardarena.v1.KeyService/BeginSignIn",
    "/cardarena.v1.KeyService/FinishSignIn",
    "/cardarena.v1.KeyService/LinkIdentity",
    "/cardarena.v1.KeyService/RevokeKey",
    "/cardarena.v1.ReplayService/InspectMatch",
    "/cardarena.v1.StandingsService/GetCollusion",
    "/cardarena.v1.ComparisonService/CreateComparison",
    "/cardarena.v1.WebhookService/DeleteWebhook",
    "/cardarena.v1.WebhookService/TestWebhook",
}
"""Calls about what is not there, or not possible, which is found out at the end of all they do."""
LATER = {
    "the last bots": (
        "/cardarena.v1.LobbyService/ListBots",
        lobby_pb2.ListBotsRequest(page_size=LONGEST, page_token=f"bot-{BOTS - 50:04}"),
    ),
    "bots after none": (
        "/cardarena.v1.LobbyService/ListBots",
        lobby_pb2.ListBotsRequest(page_size=LONGEST, page_token="z" * 60_000),
    ),
    "matches after one that is not in play": (
        "/cardarena.v1.LobbyService/ListMatches",
        lobby_pb2.ListMatchesRequest(page_size=LONGEST, page_token="in-play-none"),
    ),
    "a match whose hands are open": (
        "/cardarena.v1.WatchService/Watch",
        watch_pb2.WatchRequest(match_id="open"),
    ),
    "a replay with a long name": (
        "/cardarena.v1.ReplayService/GetReplay",
        replay_pb2.GetReplayRequest(replay_id="x" * 60_000),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", WORST)
def test_a_call_does_no_file_work_on_the_loop_and_little_else(house, method):
    wanted = WORST[method]
    request = (
        [each.SerializeToString() for each in wanted]
        if isinstance(wanted, list)
        else wanted.SerializeToString()
    )
    token = {
        Access.GOVERN: house.organiser,
        Access.KEYED: house.organiser,
        Access.OWN: house.owner,
        Access.OVERSEE: house.owner,
    }.get(CALLS[method])
    authorization = "" if token is None else f"Bearer {token}"
    if method not in ONCE:
        house.call(method, authorization, request)  # what is made once is made
    monitor = LoopMonitor()
    with monitor.running():
        answers, context = house.call(method, authorization, request)
    assert answers or method in REFUSED, context.text
    assert not monitor.file_calls
    assert monitor.longest <= MOST_CALLS


@pytest.mark.slow
@pytest.mark.parametrize("what", LATER)
def test_whatever_is_asked_for(house, what):
    method, request = LATER[what]
    monitor = LoopMonitor()
    with monitor.running():
        house.call(method, "", request.SerializeToString())
    assert not monitor.file_calls
    assert monitor.longest <= MOST_CALLS


@pytest.mark.slow
def test_matches_in_play_are_listed_in_pages_newest_first(house):
    token, listed = "", []
    while len(listed) < IN_PLAY:
        request = lobby_pb2.ListMatchesRequest(page_size=LONGEST, page_token=token)
        monitor = LoopMonitor()
        with monitor.running():
            ((answer,), _) = house.call(
                "/cardarena.v1.LobbyService/ListMatches", "", request.SerializeToString()
            )
        assert monitor.longest <= MOST_CALLS
        page = lobby_pb2.ListMatchesResponse.FromString(answer)
        listed += [match.match_id for match in page.matches]
        token = page.next_page_token
    assert listed[:IN_PLAY] == [*house.arena.matches.in_play][::-1]


@pytest.mark.slow
def test_bots_are_listed_in_pages_by_name_with_what_they_play(house):
    token, listed = "", {}
    while not listed or token:
        request = lobby_pb2.ListBotsRequest(page_size=LONGEST, page_token=token)
        ((answer,), _) = house.call(
            "/cardarena.v1.LobbyService/ListBots", "", request.SerializeToString()
        )
        page = lobby_pb2.ListBotsResponse.FromString(answer)
        assert len(page.bots) <= MAX_PAGE_SIZE
        listed.update({bot.bot: bot.matches for bot in page.bots})
        token = page.next_page_token
    assert [*listed] == sorted(session.bot.name for session in house.arena.sessions)
    assert (listed["bot-0000"], listed["bot-0001"], listed["bot-2999"]) == (1, 2, 0)


# Calls that gRPC's own packages answer.

SERVICES = ("cardarena.v1.PlayService", "cardarena.v1.LobbyService", "cardarena.v1.ReplayService")
REFLECTED = [
    reflection_pb2.ServerReflectionRequest(list_services=""),
    reflection_pb2.ServerReflectionRequest(file_by_filename="cardarena/v1/game.proto"),
    reflection_pb2.ServerReflectionRequest(file_by_filename="x" * 60_000),
    reflection_pb2.ServerReflectionRequest(file_containing_symbol="x." * 30_000),
    reflection_pb2.ServerReflectionRequest(
        all_extension_numbers_of_type="google.protobuf.MessageOptions"
    ),
    reflection_pb2.ServerReflectionRequest(
        file_containing_extension=reflection_pb2.ExtensionRequest(
            containing_type="google.protobuf.MessageOptions", extension_number=1
        )
    ),
    reflection_pb2.ServerReflectionRequest(),
    *[reflection_pb2.ServerReflectionRequest(file_containing_symbol=each) for each in SERVICES],
]
HEALTH = health_pb2.HealthCheckRequest


async def check(servicer):
    for name in ("", "x" * 60_000):
        with contextlib.suppress(Refused):
            await servicer.Check(HEALTH(service=name), Call())


async def watches(servicer):
    """Watched names are remembered for as long as somebody watches: here by many at a time."""

    class Listens(Call):
        async def write(self, message):
            pass

    names = ["", *["x" * 60_000] * 100]
    tasks = [asyncio.ensure_future(servicer.Watch(HEALTH(service=n), Listens())) for n in names]
    await asyncio.sleep(0)
    await servicer.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def reflects(_):
    servicer = reflection_aio.ReflectionServicer(SERVICES)

    async def requests():
        for each in REFLECTED * 20:
            yield each

    async for answer in servicer.ServerReflectionInfo(requests(), Call()):
        assert answer.ByteSize() < MAX_SENT_BYTES
        await asyncio.sleep(0)  # as gRPC does when it sends it


GRPCS = {
    "/grpc.health.v1.Health/Check": check,
    "/grpc.health.v1.Health/Watch": watches,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": reflects,
}


@pytest.mark.parametrize("method", GRPCS)
def test_a_call_that_a_package_answers_does_little_on_the_loop(method):
    async def main():
        servicer = Health()
        await GRPCS[method](servicer)  # what is made once is made
        monitor = LoopMonitor()
        with monitor.running():
            await GRPCS[method](servicer)
        return monitor

    monitor = asyncio.run(main())
    assert not monitor.file_calls
    assert monitor.longest <= MOST_CALLS


# What may be said on a play stream.

OPEN = MAX_OPEN_ASKS


def crowded():
    """A bot that sits at as many matches as it may, and is asked at each."""
    world = World(max_open_asks=OPEN, max_matches=OPEN)
    for number in range(OPEN):
        world.begin(seed=str(number))
    return world, [each.ask_id for each in world.ann.outbox.take_asks()]


def answers_to(ids):
    return play_pb2.BotMessage(
        answers=play_pb2.Answers(answers=[play_pb2.Answer(ask_id=each, index=0) for each in ids])
    ).SerializeToString()


def calls_of(act):
    """How much an act calls; none of it may reach files."""
    monitor = LoopMonitor()
    with monitor.running():
        act()
    assert not monitor.file_calls
    return monitor.longest


INVENTED = [match << 20 | 77 for match in range(1, OPEN + 1)]
# fmt: off
SAID = {
    "as many answers to nothing as fit": answers_to(INVENTED * 13),
    "another answer to each of many":    answers_to(INVENTED),
    "bytes that are no message":         b"\xff" * MAX_MESSAGE_BYTES,
    "an unknown field as long as fits":  b"\xfa\x7f" + b"\xf0\xff\x03" + b"x" * 65_520,
    "a long note":                       play_pb2.BotMessage(answers=play_pb2.Answers(answers=[
                                             play_pb2.Answer(ask_id=1 << 20 | 1, index=0, note="n" * 60_000)])
                                         ).SerializeToString(),
    "a commitment of any length":        play_pb2.BotMessage(deal_commit=play_pb2.DealCommit(
                                             context=b"c" * 30_000, commitment=b"c" * 30_000)).SerializeToString(),
    "an opening of any length":          play_pb2.BotMessage(deal_reveal=play_pb2.DealReveal(
                                             context=b"c" * 30_000, entropy=b"c" * 30_000)).SerializeToString(),
    "another hello":                     play_pb2.BotMessage(hello=play_pb2.Hello(games=[
                                             play_pb2.GameSupport(game="abstrac")] * 4_000)).SerializeToString(),
}
# fmt: on


@pytest.mark.parametrize("what", SAID)
def test_a_message_that_no_ask_called_for_does_little_on_the_loop(what):
    assert len(SAID[what]) <= MAX_MESSAGE_BYTES
    world, _ = crowded()
    assert calls_of(lambda: world.ann.send(SAID[what])) <= MOST_CALLS


def test_answers_that_are_owed_take_what_their_decisions_take_and_no_more():
    """One message may answer all that is open: so many decisions, and their owner gains nothing."""
    world, asked = crowded()
    one = calls_of(lambda: world.ann.send(answers_to(asked[:1])))
    rest = calls_of(lambda: world.ann.send(answers_to(asked[1:])))
    assert rest <= 2 * one * (OPEN - 1)
    assert one <= MOST_CALLS / 10
    again = calls_of(lambda: world.ann.send(answers_to(asked)))
    assert again <= 2 * MOST_CALLS, "said again, they are looked up and passed over"


def test_a_hello_takes_time_for_its_matches_only():
    world, _ = crowded()
    hello = {"max_open_asks": OPEN, "max_matches": OPEN}
    assert calls_of(lambda: world.ann.connect(**hello)) <= 4 * MOST_CALLS


@pytest.mark.slow
def test_replays_are_listed_in_pages_newest_first(house):
    token, pages = "", []
    while not pages or token:
        request = lobby_pb2.ListMatchesRequest(
            ended=lobby_pb2.MatchFilter(published=True), page_size=LONGEST, page_token=token
        )
        ((answer,), _) = house.call(
            "/cardarena.v1.LobbyService/ListMatches", "", request.SerializeToString()
        )
        page = lobby_pb2.ListMatchesResponse.FromString(answer)
        token = page.next_page_token
        pages.append([match.match_id for match in page.matches])
    assert [len(page) for page in pages] == [MAX_PAGE_SIZE] * (MATCHES // MAX_PAGE_SIZE)
    listed = [match_id for page in pages for match_id in page]
    assert listed == [f"match-{number:04}" for number in reversed(range(MATCHES))]
