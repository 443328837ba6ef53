"""Every call with one request, in process: through the guard, with any bytes and any authorization."""

import asyncio
import contextlib
import functools
import inspect
import itertools
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from hypothesis import strategies as st

from arena.api.admission.access import CALLS, Access
from arena.api.admission.calls import CallInterceptor
from arena.api.bots import BotCalls
from arena.api.comparisons import ComparisonCalls
from arena.api.competitions import CompetitionCalls
from arena.api.keys import KeyCalls
from arena.api.lobby import LobbyCalls
from arena.api.owners import OwnerCalls
from arena.api.replays import ReplayCalls
from arena.api.spectating import SpectateCalls
from arena.api.standings import StandingsCalls
from arena.api.webhooks import WebhookCalls
from arena.bots.intake import SubmissionIntake
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.contests.competition_service import CompetitionService
from arena.contests.standings_process import StandingsMaker
from arena.contests.webhook_post import WebhookPost
from arena.errors.refused import DRAINING, Refused
from arena.live.arena import Arena
from arena.live.matches.results import ArenaRecords
from arena.live.session.messages import Outbox
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import Recovery
from arena.records.signing import ArenaKey
from arena.referee.timers import ArenaTime
from arena.store import Key, Scope, open_store
from arena.testing.results import MemoryResults
from cardarena.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    comparisons_pb2,
    comparisons_pb2_grpc,
    competitions_pb2,
    competitions_pb2_grpc,
    game_pb2,
    keys_pb2,
    keys_pb2_grpc,
    lobby_pb2,
    lobby_pb2_grpc,
    owners_pb2,
    owners_pb2_grpc,
    play_pb2,
    replay_pb2,
    replay_pb2_grpc,
    standings_pb2,
    standings_pb2_grpc,
    watch_pb2,
    watch_pb2_grpc,
)
from tests.doubles.calls import Aborted, Call, Details
from tests.fuzz.play_stream import INSIDE, bot_messages
from tests.fuzz.target import Target
from tests.fuzz.wild import Messages, mutated, sized

REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
}
"""What a client may be told, whatever it says."""
MAX_TRAILER_BYTES = 4096
MAX_ANSWER_BYTES = 262_144
KNOWN = [
    call for call in CALLS if "/cardarena." in call and "Play" not in call and "Work" not in call
]
HEADERS = ("", "Bearer guest:wild", "Bearer arena_", "Basic x", "Bearer", "\x00é", "Bearer " * 99)


class Registry:
    """Collects handlers as a server would."""

    def __init__(self):
        self.handlers = []

    def add_generic_rpc_handlers(self, handlers):
        self.handlers += handlers

    def add_registered_method_handlers(self, service, handlers):
        pass


class OnAThread:
    """Computes standings on a thread: thousands of calls need no process."""

    def __init__(self, store):
        self._maker = StandingsMaker(store)

    async def standings(self, name, number):
        return await asyncio.to_thread(self._maker.standings, name, number)

    async def pair(self, name, game, bot, other):
        return await asyncio.to_thread(self._maker.pair, name, game, bot, other)

    async def collusion(self, name, without, earlier):
        return await asyncio.to_thread(self._maker.collusion, name, without, earlier)


class House:
    """An arena that serves calls without sockets, with two bots that could play."""

    def __init__(self, folder, files, results=None):
        self.loop = asyncio.new_event_loop()
        self.store = files.enter_context(open_store(folder / "desk.db"))
        keys = self.store.keys()
        self.intake = SubmissionIntake(
            folder, self.store.registry(), keys, lambda: datetime.now(UTC)
        )
        _, self.owner = self.intake.register(self.intake.invite("own", "org"))
        self.organiser = new_token()
        made = datetime.now(UTC).replace(microsecond=0)
        digest = token_sha256(self.organiser)
        keys.add(Key(key_id(self.organiser), digest, Scope.ORGANISER, "org", "", made))
        tokens = Tokens(guests=True, keys=keys.all())
        journal = files.enter_context(Journal(folder / "journal"))
        deals = files.enter_context(DealLog(folder / "journal", public=folder / "commitments"))
        replays = folder / "replays"
        replays.mkdir()
        self.arena = Arena(
            ArenaRecords(journal, deals, replays, results or MemoryResults(), Recovery(), "0" * 32),
            tokens,
            time=ArenaTime(itertools.count().__next__, owner_of=tokens.owner_of),
        )
        self.arena.matches._token = self  # starts nothing: see run_sync_soon
        self.arena.limits.accept = lambda rank: None  # otherwise most hellos come too quickly
        self.guard = CallInterceptor(tokens)
        registry = Registry()
        lobby_pb2_grpc.add_LobbyServiceServicer_to_server(
            LobbyCalls(self.arena.matches, self.arena.sessions, self.arena.tokens), registry
        )
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(
            ReplayCalls(folder, tokens, self.store.registry().find_bot), registry
        )
        self.service = CompetitionService(self.store.competitions(), ArenaKey.new())
        competitions_pb2_grpc.add_CompetitionServiceServicer_to_server(
            CompetitionCalls(self.store, self.service, tokens), registry
        )
        standings_pb2_grpc.add_StandingsServiceServicer_to_server(
            StandingsCalls(self.service, OnAThread(self.store)), registry
        )
        comparisons_pb2_grpc.add_ComparisonServiceServicer_to_server(
            ComparisonCalls(self.store, tokens, lambda: datetime.now(UTC)), registry
        )
        keys_pb2_grpc.add_KeyServiceServicer_to_server(
            KeyCalls(self.store, tokens, lambda: datetime.now(UTC)), registry
        )
        owners_pb2_grpc.add_OwnerServiceServicer_to_server(
            OwnerCalls(self.intake, tokens), registry
        )
        owners_pb2_grpc.add_WebhookServiceServicer_to_server(
            WebhookCalls(self.store, tokens, WebhookPost(), lambda: datetime.now(UTC)), registry
        )
        bots_pb2_grpc.add_BotServiceServicer_to_server(
            BotCalls(self.intake, tokens, sandbox="S2"), registry
        )
        watch_pb2_grpc.add_WatchServiceServicer_to_server(
            SpectateCalls(
                self.arena.matches.spectators,
                lambda: self.arena.matches.in_play,
                journal.flush,
            ),
            registry,
        )
        self.handlers = registry.handlers
        for name in ("ann", "bob"):
            self.come(name)

    def come(self, name):
        """A guest says hello."""
        games = [play_pb2.GameSupport(game="abstrac")]
        hello = play_pb2.Hello(token=f"guest:{name}", games=games, max_matches=9)
        self.arena.hello(hello, Outbox(self.loop, self.arena.now_s))

    def run_sync_soon(self, call, *args, **kwargs):
        """Nothing that a call starts is played here."""

    def call(self, method, authorization, request):
        """What a call answers, as messages, and its context."""
        context = Call(request, "ipv4:127.0.0.1:1", authorization)
        before = {*self.arena.matches.in_play}
        try:
            return self.loop.run_until_complete(
                self._answers(Details(method, authorization), context)
            ), context
        except Aborted:
            return [], context
        finally:
            context.end()
            for match_id in {*self.arena.matches.in_play} - before:
                self.arena.matches.in_play[match_id].refuse(Refused(DRAINING))
                self.arena.matches.in_play.discard(match_id)
            for session in self.arena.sessions:
                session._reserved = 0

    async def _answers(self, details, context):
        async def continuation(details):
            found = (each.service(details) for each in self.handlers)
            return next(handler for handler in found if handler is not None)

        handler = await self.guard.intercept_service(continuation, details)
        # The guard reads the one request itself, so that it may give up waiting for it.
        answer = handler.stream_stream(None, context)
        if inspect.isasyncgen(answer):
            return [handler.response_serializer(each) async for each in answer]
        await answer
        return []


@functools.cache
def house():
    files = contextlib.ExitStack()
    folder = files.enter_context(tempfile.TemporaryDirectory(prefix="fuzz-calls-"))
    built = House(Path(folder), files)
    built.files = files  # lives as long as the process
    return built


def check_call(data):
    """A call with any request is answered, or refused in words that were meant for clients."""
    if len(data) < 2:
        return
    headers = (*HEADERS, f"Bearer {house().owner}", f"Bearer {house().organiser}")
    method, authorization = KNOWN[data[0] % len(KNOWN)], headers[data[1] % len(headers)]
    answers, context = house().call(method, authorization, data[2:])
    for answer in answers:
        assert len(answer) <= MAX_ANSWER_BYTES
    if context.code is grpc.StatusCode.OK:
        assert answers
        return
    check_refusal(context.code, context.text, context.trailers)


def check_refusal(code, text, trailers=()):
    """A refusal is one of those that clients are told of, in bounds, and shows nothing inside."""
    assert code in REFUSALS, (code, text)
    assert 0 < len(text) <= 400
    assert not INSIDE.search(text), text
    size = sum(len(key) + len(value) for key, value in trailers)
    assert size <= MAX_TRAILER_BYTES


def check_hello(data):
    """Any first message is welcomed, or refused in words that were meant for clients."""
    built = house()
    try:
        message = play_pb2.BotMessage.FromString(data)
    except DecodeError:
        return  # the stream says MALFORMED: see the target `sockets`
    if message.WhichOneof("body") != "hello" or message.hello.token in GOOD_TOKENS:
        return
    outbox = Outbox(built.loop, built.arena.now_s)
    try:
        session = built.arena.hello(message.hello, outbox)
    except Refused as refused:
        check_refusal(refused.code, refused.text, refused.trailing_metadata())
        check_unsaid(message.hello.token, refused.text)
        return
    welcome = play_pb2.ArenaMessage.FromString(outbox._frames[0]).welcome
    assert 0 < welcome.limits.max_matches <= 512
    assert 0 < welcome.limits.max_open_asks <= 512
    built.arena.hung_up(session, outbox)
    assert not session.connected
    del built.arena.sessions._sessions[session.bot]


def check_unsaid(token, text):
    """A text does not repeat a token; short ones are words that it may hold by chance."""
    assert len(token) < 12 or token not in text


GOOD_TOKENS = ("guest:ann", "guest:bob")


def honest_requests():
    """What honest clients ask, as bytes with the number of the call before it."""
    settings = [
        game_pb2.Setting(name="hands", number=2),
        game_pb2.Setting(name="target", text="x"),
        game_pb2.Setting(name="hands"),
    ]
    control = game_pb2.TimeControl(move_ms=1000, bank_ms=5000)
    create, terms = lobby_pb2.CreateMatchRequest, game_pb2.MatchTerms
    asked = {
        "ListGames": [lobby_pb2.ListGamesRequest()],
        "CreateMatch": [
            create(
                terms=terms(game="abstrac", options=settings[:1], time_control=control),
                bots=["ann", "bob"],
            ),
            create(terms=terms(game="abstrac", options=settings), bots=["ann", "bob"], seed="1"),
            create(
                terms=terms(game="abstrac", time_control=game_pb2.TimeControl(), seats=2),
                bots=["ann", "ann"],
            ),
            create(terms=terms(game="loo", fault_limit=0, seeded=True), bots=["ann"] * 5),
        ],
        "GetMatch": [lobby_pb2.GetMatchRequest(match_id="m1")],
        "ListMatches": [
            lobby_pb2.ListMatchesRequest(page_size=3, page_token="17-m1"),
            lobby_pb2.ListMatchesRequest(
                ended=lobby_pb2.MatchFilter(bots=["ann"], ending=99, lost_by="ann"), skip=2**31
            ),
        ],
        "ListPlayedGames": [lobby_pb2.ListPlayedGamesRequest()],
        "ListPlayedBots": [lobby_pb2.ListPlayedBotsRequest(competition="c", page_token="7")],
        "ListBots": [lobby_pb2.ListBotsRequest(page_size=1, page_token="ann")],
        "ListHumanOpponents": [lobby_pb2.ListHumanOpponentsRequest()],
        "SeatPerson": [
            lobby_pb2.SeatPersonRequest(terms=terms(game="abstrac", seats=2), opponent="ann")
        ],
        "GetReplay": [
            replay_pb2.GetReplayRequest(replay_id="m1"),
            replay_pb2.GetReplayRequest(replay_id="../journal/deals"),
            replay_pb2.GetReplayRequest(replay_id="m1", notes_of_seat=0),
        ],
        "Watch": [watch_pb2.WatchRequest(match_id="m1", after=2**63)],
        "ListLive": [watch_pb2.ListLiveRequest()],
        "InspectMatch": [replay_pb2.InspectMatchRequest(match_id="m1")],
        "CreateCompetition": [competitions_pb2.CreateCompetitionRequest(config=PLAN)],
        "EstimateCompetition": [
            competitions_pb2.EstimateCompetitionRequest(
                config=PLAN, entrants=2**31, cores=2**31, match_s=float("nan")
            )
        ],
        "DropWorker": [competitions_pb2.DropWorkerRequest(name="c", worker="w", reason="x")],
        "ListSpotChecks": [competitions_pb2.ListSpotChecksRequest(name="c")],
        "ControlCompetition": [
            competitions_pb2.ControlCompetitionRequest(name="c", action=each) for each in range(7)
        ],
        "EnterBot": [competitions_pb2.EnterBotRequest(name="c", bot="ann")],
        "WithdrawBot": [competitions_pb2.WithdrawBotRequest(name="c", bot="ann")],
        "DisqualifyBot": [competitions_pb2.DisqualifyBotRequest(name="c", bot="ann", reason="x")],
        "ReinstateBot": [competitions_pb2.ReinstateBotRequest(name="c", bot="ann", reason="x")],
        "DeleteCompetition": [competitions_pb2.DeleteCompetitionRequest(name="c")],
        "Announce": [competitions_pb2.AnnounceRequest(name="c", text="x")],
        "GetCompetition": [competitions_pb2.GetCompetitionRequest(name="c")],
        "ListCompetitions": [competitions_pb2.ListCompetitionsRequest(page_token="7")],
        "ListRounds": [competitions_pb2.ListRoundsRequest(name="c", page_size=2**31)],
        "WatchCompetition": [competitions_pb2.WatchCompetitionRequest(name="none")],
        "GetStandings": [
            standings_pb2.GetStandingsRequest(name="c", number=each) for each in (0, 9)
        ],
        "GetPair": [standings_pb2.GetPairRequest(name="c", bot="ann", other="bob")],
        "ExportStandings": [standings_pb2.ExportStandingsRequest(name="c")],
        "GetCollusion": [
            standings_pb2.GetCollusionRequest(name="c", without=["eve"], earlier=["c"])
        ],
        "CreateComparison": [
            comparisons_pb2.CreateComparisonRequest(
                first="ann@2", second="ann@1", terms=terms(game="abstrac", seats=2)
            ),
            comparisons_pb2.CreateComparisonRequest(
                first="ann", second="house-sample", terms=terms(game="loo", seats=7), challenge=True
            ),
        ],
        "GetComparison": [comparisons_pb2.GetComparisonRequest(id=1)],
        "ListComparisons": [
            comparisons_pb2.ListComparisonsRequest(page_token=each, challenged=bool(each))
            for each in ("", "x", "1")
        ],
        "CancelComparison": [comparisons_pb2.CancelComparisonRequest(id=2**31)],
        "CreateKey": [
            keys_pb2.CreateKeyRequest(scope=2, owner="eve", lifetime_s=2**63),
            keys_pb2.CreateKeyRequest(scope=1, bot="b"),
        ],
        "SignIn": [keys_pb2.SignInRequest(label="Firefox \u202e")],
        "ListProviders": [keys_pb2.ListProvidersRequest()],
        "BeginSignIn": [keys_pb2.BeginSignInRequest(provider="campus", browser="b")],
        "FinishSignIn": [keys_pb2.FinishSignInRequest(provider="campus", state="a.9.f", code="c")],
        "LinkIdentity": [keys_pb2.LinkIdentityRequest(proof="W10=.f", browser="b")],
        "GetKey": [keys_pb2.GetKeyRequest()],
        "ListKeys": [keys_pb2.ListKeysRequest(page_size=1, page_token="7")],
        "RevokeKey": [keys_pb2.RevokeKeyRequest(key_id="Xy3kPq9A")],
        "Register": [owners_pb2.RegisterRequest(code="7Q4K-M2")],
        "Invite": [owners_pb2.InviteRequest(owner="eve")],
        "Ban": [owners_pb2.BanRequest(owner="eve", reason="two accounts")],
        "ListInvitations": [owners_pb2.ListInvitationsRequest(page_size=1, page_token="1")],
        "ListOwners": [owners_pb2.ListOwnersRequest(page_size=1, page_token="eve")],
        "CreateWebhook": [
            owners_pb2.CreateWebhookRequest(url=url)
            for url in ("https://bots.example/hook", "https://127.0.0.1", "https://[::", "x:")
        ],
        "ListWebhooks": [owners_pb2.ListWebhooksRequest()],
        "DeleteWebhook": [owners_pb2.DeleteWebhookRequest(id=2**32 - 1)],
        "TestWebhook": [owners_pb2.TestWebhookRequest(id=1)],
        "CreateBot": [bots_pb2.CreateBotRequest(bot=bot, kind=1) for bot in ("b", "ann")],
        "ListOwnedBots": [bots_pb2.ListOwnedBotsRequest(owner="eve")],
        "CreateToken": [bots_pb2.CreateTokenRequest(bot="b")],
        "SubmitVersion": [
            bots_pb2.SubmitVersionRequest(bot="b"),
            bots_pb2.SubmitVersionRequest(piece=b"PK"),
        ],
        "SetVersionState": [bots_pb2.SetVersionStateRequest(bot="b", version=1, state=5)],
        "GetReport": [bots_pb2.GetReportRequest(bot="b", version=2**31)],
        "ListVersions": [bots_pb2.ListVersionsRequest(bot="b", page_token="7")],
        "ListLogs": [bots_pb2.ListLogsRequest(bot="b", page_token="0.log")],
        "GetLog": [bots_pb2.GetLogRequest(bot="b", log="../../arena-key")],
    }
    keys = {Access.GOVERN: 1, Access.KEYED: 1, Access.OWN: 0, Access.OVERSEE: 0}
    header = {
        call: len(HEADERS) + keys[CALLS[call]] if CALLS[call] in keys else 0 for call in KNOWN
    }
    return [
        bytes((KNOWN.index(call), header[call])) + request.SerializeToString()
        for call in KNOWN
        for request in asked.get(call.rpartition("/")[2], [Empty()])
    ]


PLAN = """
name = "d"
kind = "ladder"
game = "abstrac"
seats = 2
seed = "s"
"""
TEXTS = ("ann", "bob", "abstrac", "eleusis", "hands", "target", "guest:x", "arena_x")


@st.composite
def calls(draw):
    if draw(st.integers(0, 2)) == 0:
        return draw(mutated(honest_requests()))
    at = draw(st.integers(0, len(KNOWN) - 1))
    header = draw(st.sampled_from((0, 0, 0, *range(len(HEADERS) + 2))))
    wild = draw(st.sampled_from((0.0, 0.1)))
    service, _, name = KNOWN[at][1:].partition("/")
    request = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name].input_type
    body = draw(Messages(texts=TEXTS, ints=(5000, 86_400_001), wild=wild).of(request))
    return bytes((at, header)) + body


def hellos():
    descriptor = play_pb2.BotMessage.DESCRIPTOR.fields_by_name["hello"].message_type
    texts = ("guest:wild", "guest:", "guest:é", "arena_" + "0" * 49, "abstrac", "democracy")
    wild = [Messages(texts=texts, wild=each, most_fields=6).of(descriptor) for each in (0.0, 0.1)]
    said = st.one_of(*wild).map(
        lambda body: (
            play_pb2.BotMessage(hello=play_pb2.Hello()).SerializeToString()[:1] + sized(body)
        )
    )
    return st.one_of(said, bot_messages())


CALL = Target(
    "calls", "every call of lobby and replays, with any request",
    check_call, calls, short=100,
)  # fmt: skip
HELLO = Target("hello", "the first message of a play stream", check_hello, hellos, short=80)
