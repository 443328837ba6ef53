"""Who may make which call: every call with every kind of token, over real sockets."""

import importlib
import math
import pkgutil
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
import trio
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

import cardarena.v1
from arena.api.admission import key_reload
from arena.api.admission.access import CALLS
from arena.api.admission.calls import CallInterceptor
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.store import Key, Scope, open_store
from cardarena.v1 import play_pb2
from tests.doubles.calls import Details
from tests.doubles.streams import PATIENCE_S, Client, reason_of
from tests.live.running import running

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROOT = Path(__file__).parents[2]

# What each call asks for. This is the promise, and not read from the code: a call that is
# added anywhere fails a test below until it has a line here.
GRANTS = {
    "cardarena.v1.PlayService/Play": "HELLO",
    "cardarena.v1.LobbyService/ListGames": "READ",
    "cardarena.v1.LobbyService/CreateMatch": "ORGANISE",
    "cardarena.v1.LobbyService/GetMatch": "READ",
    "cardarena.v1.LobbyService/ListMatches": "READ",
    "cardarena.v1.LobbyService/ListPlayedGames": "READ",
    "cardarena.v1.LobbyService/ListPlayedBots": "READ",
    "cardarena.v1.LobbyService/ListBots": "READ",
    "cardarena.v1.LobbyService/ListHumanOpponents": "SITE",
    "cardarena.v1.LobbyService/SeatPerson": "SITE",
    "cardarena.v1.ReplayService/GetReplay": "READ",
    "cardarena.v1.ReplayService/InspectMatch": "GOVERN",
    "cardarena.v1.CompetitionService/CreateCompetition": "GOVERN",
    "cardarena.v1.CompetitionService/ControlCompetition": "GOVERN",
    "cardarena.v1.CompetitionService/DisqualifyBot": "GOVERN",
    "cardarena.v1.CompetitionService/ReinstateBot": "GOVERN",
    "cardarena.v1.CompetitionService/DeleteCompetition": "GOVERN",
    "cardarena.v1.CompetitionService/Announce": "GOVERN",
    "cardarena.v1.CompetitionService/DropWorker": "GOVERN",
    "cardarena.v1.CompetitionService/ListSpotChecks": "GOVERN",
    "cardarena.v1.CompetitionService/EstimateCompetition": "READ",
    "cardarena.v1.CompetitionService/EnterBot": "KEYED",
    "cardarena.v1.CompetitionService/WithdrawBot": "KEYED",
    "cardarena.v1.CompetitionService/GetCompetition": "READ",
    "cardarena.v1.CompetitionService/ListCompetitions": "READ",
    "cardarena.v1.CompetitionService/ListRounds": "READ",
    "cardarena.v1.CompetitionService/WatchCompetition": "READ",
    "cardarena.v1.StandingsService/GetStandings": "READ",
    "cardarena.v1.StandingsService/GetPair": "READ",
    "cardarena.v1.StandingsService/ExportStandings": "READ",
    "cardarena.v1.StandingsService/GetCollusion": "GOVERN",
    "cardarena.v1.ComparisonService/CreateComparison": "KEYED",
    "cardarena.v1.ComparisonService/GetComparison": "KEYED",
    "cardarena.v1.ComparisonService/CancelComparison": "KEYED",
    "cardarena.v1.ComparisonService/ListComparisons": "KEYED",
    "cardarena.v1.KeyService/CreateKey": "GOVERN",
    "cardarena.v1.KeyService/SignIn": "OVERSEE",
    "cardarena.v1.KeyService/ListProviders": "CODE",
    "cardarena.v1.KeyService/BeginSignIn": "CODE",
    "cardarena.v1.KeyService/FinishSignIn": "CODE",
    "cardarena.v1.KeyService/LinkIdentity": "OWN",
    "cardarena.v1.KeyService/GetKey": "OVERSEE",
    "cardarena.v1.KeyService/ListKeys": "OVERSEE",
    "cardarena.v1.KeyService/RevokeKey": "OVERSEE",
    "cardarena.v1.OwnerService/Register": "CODE",
    "cardarena.v1.OwnerService/Invite": "GOVERN",
    "cardarena.v1.OwnerService/Ban": "GOVERN",
    "cardarena.v1.OwnerService/ListInvitations": "GOVERN",
    "cardarena.v1.OwnerService/ListOwners": "GOVERN",
    "cardarena.v1.WebhookService/CreateWebhook": "OVERSEE",
    "cardarena.v1.WebhookService/ListWebhooks": "OVERSEE",
    "cardarena.v1.WebhookService/DeleteWebhook": "OVERSEE",
    "cardarena.v1.WebhookService/TestWebhook": "OVERSEE",
    "cardarena.v1.BotService/CreateBot": "OWN",
    "cardarena.v1.BotService/ListOwnedBots": "OVERSEE",
    "cardarena.v1.BotService/CreateToken": "OWN",
    "cardarena.v1.BotService/SubmitVersion": "OWN",
    "cardarena.v1.BotService/SetVersionState": "OWN",
    "cardarena.v1.BotService/GetReport": "OVERSEE",
    "cardarena.v1.BotService/ListVersions": "OVERSEE",
    "cardarena.v1.BotService/ListLogs": "OVERSEE",
    "cardarena.v1.BotService/GetLog": "OVERSEE",
    "cardarena.v1.WorkService/Work": "WORK",
    "cardarena.v1.WorkService/GetArchive": "WORK",
    "cardarena.v1.WorkService/ReportPlacement": "WORK",
    # What they show is public; they are the first to be refused when there is too much.
    "cardarena.v1.WatchService/Watch": "WATCH",
    "cardarena.v1.WatchService/ListLive": "WATCH",
    "grpc.health.v1.Health/Check": "OPEN",
    "grpc.health.v1.Health/Watch": "OPEN",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "OPEN",
}

# What a call says that was let in, and was asked for nothing in particular.
LET_IN = {
    "cardarena.v1.LobbyService/CreateMatch": "UNKNOWN_GAME",
    "cardarena.v1.LobbyService/GetMatch": "UNKNOWN_MATCH",
    "cardarena.v1.ReplayService/GetReplay": "UNKNOWN_REPLAY",
    "cardarena.v1.ReplayService/InspectMatch": "UNKNOWN_MATCH",
    "cardarena.v1.CompetitionService/CreateCompetition": "BAD_PLAN",
    "cardarena.v1.CompetitionService/ControlCompetition": "NO_ACTION",
    "cardarena.v1.CompetitionService/DisqualifyBot": "NO_REASON",
    "cardarena.v1.CompetitionService/ReinstateBot": "NO_REASON",
    "cardarena.v1.CompetitionService/DeleteCompetition": "UNKNOWN_COMPETITION",
    "cardarena.v1.CompetitionService/Announce": "UNKNOWN_COMPETITION",
    "cardarena.v1.CompetitionService/DropWorker": "NO_REASON",
    "cardarena.v1.CompetitionService/ListSpotChecks": "UNKNOWN_COMPETITION",
    "cardarena.v1.CompetitionService/EstimateCompetition": "BAD_PLAN",
    "cardarena.v1.CompetitionService/EnterBot": "UNKNOWN_BOT",
    "cardarena.v1.CompetitionService/WithdrawBot": "UNKNOWN_BOT",
    "cardarena.v1.CompetitionService/GetCompetition": "UNKNOWN_COMPETITION",
    "cardarena.v1.CompetitionService/ListRounds": "UNKNOWN_COMPETITION",
    "cardarena.v1.CompetitionService/WatchCompetition": "UNKNOWN_COMPETITION",
    "cardarena.v1.StandingsService/GetStandings": "UNKNOWN_COMPETITION",
    "cardarena.v1.StandingsService/GetPair": "UNKNOWN_COMPETITION",
    "cardarena.v1.StandingsService/ExportStandings": "UNKNOWN_COMPETITION",
    "cardarena.v1.StandingsService/GetCollusion": "UNKNOWN_COMPETITION",
    "cardarena.v1.ComparisonService/CreateComparison": "UNKNOWN_GAME",
    "cardarena.v1.ComparisonService/GetComparison": "UNKNOWN_COMPARISON",
    "cardarena.v1.ComparisonService/CancelComparison": "UNKNOWN_COMPARISON",
    "cardarena.v1.KeyService/CreateKey": "BAD_NAME",
    "cardarena.v1.KeyService/SignIn": "UNKNOWN_KEY",
    "cardarena.v1.KeyService/BeginSignIn": "UNKNOWN_PROVIDER",
    "cardarena.v1.KeyService/FinishSignIn": "UNKNOWN_PROVIDER",
    "cardarena.v1.KeyService/LinkIdentity": "NOT_CONFIRMED",
    "cardarena.v1.KeyService/GetKey": "UNKNOWN_KEY",
    "cardarena.v1.KeyService/RevokeKey": "UNKNOWN_KEY",
    "cardarena.v1.OwnerService/Register": "BAD_CODE",
    "cardarena.v1.OwnerService/Invite": "BAD_NAME",
    "cardarena.v1.OwnerService/Ban": "NO_REASON",
    "cardarena.v1.WebhookService/CreateWebhook": "BAD_WEBHOOK",
    "cardarena.v1.WebhookService/DeleteWebhook": "UNKNOWN_WEBHOOK",
    "cardarena.v1.WebhookService/TestWebhook": "UNKNOWN_WEBHOOK",
    "cardarena.v1.BotService/CreateBot": "BAD_NAME",
    "cardarena.v1.BotService/CreateToken": "UNKNOWN_BOT",
    "cardarena.v1.BotService/SubmitVersion": "NO_BOT",
    "cardarena.v1.BotService/SetVersionState": "BAD_STATE",
    "cardarena.v1.BotService/GetReport": "UNKNOWN_BOT",
    "cardarena.v1.BotService/ListVersions": "UNKNOWN_BOT",
    "cardarena.v1.BotService/ListLogs": "UNKNOWN_BOT",
    "cardarena.v1.BotService/GetLog": "UNKNOWN_BOT",
    "cardarena.v1.WatchService/Watch": "UNKNOWN_MATCH",
    "cardarena.v1.WorkService/Work": "DRAINING",
    "cardarena.v1.WorkService/GetArchive": "UNKNOWN_VERSION",
    "cardarena.v1.WorkService/ReportPlacement": "DRAINING",
}

OK = "let in"

# fmt: off
EXPECTED = {
    # column                  READ                ORGANISE            HELLO               OWN                 OVERSEE             WORK
    "no token":              ("NO_TOKEN",         "NO_TOKEN",         "NO_TOKEN",         "NO_TOKEN",         "NO_TOKEN",     "NO_TOKEN"),
    "garbage":               ("BAD_TOKEN",        "BAD_TOKEN",        "BAD_TOKEN",        "BAD_TOKEN",        "BAD_TOKEN",     "BAD_TOKEN"),
    "one wrong character":   ("BAD_TOKEN",        "BAD_TOKEN",        "BAD_TOKEN",        "BAD_TOKEN",        "BAD_TOKEN",     "BAD_TOKEN"),
    "unknown":               ("UNKNOWN_TOKEN",    "UNKNOWN_TOKEN",    "UNKNOWN_TOKEN",    "UNKNOWN_TOKEN",    "UNKNOWN_TOKEN",     "UNKNOWN_TOKEN"),
    "expired":               ("EXPIRED_TOKEN",    "EXPIRED_TOKEN",    "EXPIRED_TOKEN",    "EXPIRED_TOKEN",    "EXPIRED_TOKEN",     "EXPIRED_TOKEN"),
    "revoked":               ("REVOKED_TOKEN",    "REVOKED_TOKEN",    "REVOKED_TOKEN",    "REVOKED_TOKEN",    "REVOKED_TOKEN",     "REVOKED_TOKEN"),
    "revoked and expired":   ("REVOKED_TOKEN",    "REVOKED_TOKEN",    "REVOKED_TOKEN",    "REVOKED_TOKEN",    "REVOKED_TOKEN",     "REVOKED_TOKEN"),
    "a bot's":               (OK,                 "WRONG_SCOPE",      OK,                 "WRONG_SCOPE",      "WRONG_SCOPE",     "WRONG_SCOPE"),
    "another owner's bot's": (OK,                 "WRONG_SCOPE",      OK,                 "WRONG_SCOPE",      "WRONG_SCOPE",     "WRONG_SCOPE"),
    "an organiser's":        (OK,                 OK,                 "WRONG_SCOPE",      "WRONG_SCOPE",      OK,     "WRONG_SCOPE"),
    "an owner's":            (OK,                 "WRONG_SCOPE",      "WRONG_SCOPE",      OK,                 OK,     "WRONG_SCOPE"),
    "a worker's":            ("WRONG_SCOPE", "WRONG_SCOPE", "WRONG_SCOPE", "WRONG_SCOPE", "WRONG_SCOPE", OK),
    "a new guest":           ("BAD_TOKEN",        "BAD_TOKEN",        "NO_TOKEN" ,        "BAD_TOKEN",        "BAD_TOKEN",     "BAD_TOKEN"),
    "a bot's name":          ("BAD_TOKEN",        "BAD_TOKEN",        "NO_TOKEN" ,        "BAD_TOKEN",        "BAD_TOKEN",     "BAD_TOKEN"),
    "its name in capitals":  ("BAD_TOKEN",        "BAD_TOKEN",        "NO_TOKEN" ,        "BAD_TOKEN",        "BAD_TOKEN",     "BAD_TOKEN"),
    "its owner's name":      ("BAD_TOKEN",        "BAD_TOKEN",        "NO_TOKEN" ,        "BAD_TOKEN",        "BAD_TOKEN",     "BAD_TOKEN"),
}
# Nobody owns or governs anything without a key: the last three columns are as without guests.
NO_GUEST = ("BAD_TOKEN", "BAD_TOKEN", "BAD_TOKEN")
WITH_GUESTS = EXPECTED | {
    "no token":              (OK,                 OK,                 "NO_TOKEN",         "NO_TOKEN",         "NO_TOKEN",         "NO_TOKEN"),
    "a new guest":           (OK,                 OK,                 OK,                 *NO_GUEST),
    "a bot's name":          ("NOT_YOURS",        "NOT_YOURS",        "NOT_YOURS",        *NO_GUEST),
    "its name in capitals":  ("NOT_YOURS",        "NOT_YOURS",        "NOT_YOURS",        *NO_GUEST),
    "its owner's name":      ("NOT_YOURS",        "NOT_YOURS",        "NOT_YOURS",        *NO_GUEST),
}
# fmt: on
KINDS = ("READ", "ORGANISE", "HELLO", "OWN", "OVERSEE", "WORK")
NO_GUESTS = {"GOVERN": "ORGANISE", "KEYED": "READ"}
"""Grants that nobody has without a key, and the ones that they are otherwise like."""
DENIED = {"WRONG_SCOPE", "NOT_YOURS"}


def make_key(keys, scope, owner, bot="", *, expires=None, revoked=False):
    token = new_token()
    made = NOW - timedelta(days=2)
    end = None if expires is None else NOW + expires
    keys.add(Key(key_id(token), token_sha256(token), scope, owner, bot, made, end))
    if revoked:
        keys.revoke(key_id(token), NOW - timedelta(days=1))
    return token


def one_wrong_character(token):
    return token[:20] + ("a" if token[20] != "a" else "b") + token[21:]


class House:
    """Two owners with keys of every kind, in a store."""

    def __init__(self, keys):
        self.keys = keys
        day = timedelta(days=1)
        bot = self.bot = make_key(keys, Scope.BOT, "ann", "Alpha")
        organiser = self.organiser = make_key(keys, Scope.ORGANISER, "ann", expires=day)
        self.others_bot = make_key(keys, Scope.BOT, "bob", "beta")
        self.owner = make_key(keys, Scope.OWNER, "ann")
        worker = make_key(keys, Scope.WORKER, "hall")
        gone = {"expires": -day}
        late_bot = make_key(keys, Scope.BOT, "ann", "Alpha", **gone)
        late_organiser = make_key(keys, Scope.ORGANISER, "ann", **gone)
        old_bot = make_key(keys, Scope.BOT, "ann", "Alpha", revoked=True)
        old_organiser = make_key(keys, Scope.ORGANISER, "ann", revoked=True)
        older_bot = make_key(keys, Scope.BOT, "ann", "Alpha", revoked=True, **gone)
        older_organiser = make_key(keys, Scope.ORGANISER, "ann", revoked=True, **gone)
        # Each: as a bot's, and for calls that ask for an organiser's.
        self.said = {
            "no token": ("", ""),
            "garbage": ("open sesame", "open sesame"),
            "one wrong character": (one_wrong_character(bot), one_wrong_character(organiser)),
            "unknown": (new_token(), new_token()),
            "expired": (late_bot, late_organiser),
            "revoked": (old_bot, old_organiser),
            "revoked and expired": (older_bot, older_organiser),
            "a bot's": (bot, bot),
            "another owner's bot's": (self.others_bot, self.others_bot),
            "an organiser's": (organiser, organiser),
            "an owner's": (self.owner, self.owner),
            "a worker's": (worker, worker),
            "a new guest": ("guest:new", "guest:new"),
            "a bot's name": ("guest:Alpha", "guest:Alpha"),
            "its name in capitals": ("guest:ALPHA", "guest:ALPHA"),
            "its owner's name": ("guest:ann", "guest:ann"),
        }


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with open_store(tmp_path_factory.mktemp("store") / "arena.db") as store:
        yield House(store.keys())


@pytest.fixture(
    scope="module",
    params=[False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["keys alone", "guests too"],
)
def arena(request, house, tmp_path_factory):
    tokens = Tokens(guests=request.param, keys=house.keys.all(), now=lambda: NOW)
    with pytest.MonkeyPatch.context() as patch:
        # How many unknown tokens are looked up in a second is for test_key_watch. Here it is no
        # matter how quickly one test follows another.
        patch.setattr(key_reload, "MAX_LOOK_UPS", math.inf)
        patch.setattr(key_reload, "POLL_S", 0.05)
        with running(tmp_path_factory.mktemp("arena"), tokens, house.keys) as arena:
            yield arena


@pytest.fixture(scope="module")
def client(arena):
    with Client(arena.address) as client:
        yield client


def method_of(call):
    """The descriptor of a call that is known to this process."""
    service, _, name = call.partition("/")
    return DESCRIBED[service].methods_by_name[name]


def services(module):
    return module.DESCRIPTOR.services_by_name.values()


MODULES = [
    importlib.import_module(f"cardarena.v1.{found.name}")
    for found in pkgutil.iter_modules(cardarena.v1.__path__)
    if found.name.endswith("_pb2")
]
DESCRIBED = {
    service.full_name: service
    for module in (*MODULES, health_pb2, reflection_pb2)
    for service in services(module)
}


def said_to(client, call, token, metadata=()):
    """What a call is told: the reason of its refusal, or OK and what else there is to say."""
    method = method_of(call)
    request = b""
    if GRANTS[call] == "HELLO":
        request = play_pb2.BotMessage(hello=play_pb2.Hello(token=token)).SerializeToString()
    elif token and not metadata:
        metadata = (("authorization", f"Bearer {token}"),)
    if "ServerReflection" in call:
        ask = reflection_pb2.ServerReflectionRequest(list_services="")
        request = ask.SerializeToString()
    kind = "_".join(
        "stream" if s else "unary" for s in (method.client_streaming, method.server_streaming)
    )
    make = getattr(client.channel, kind)(f"/{call}")
    try:
        given = iter([request]) if method.client_streaming else request
        answer = make(given, metadata=metadata, timeout=PATIENCE_S)
        if method.server_streaming:
            next(answer)
            answer.cancel()
    except grpc.RpcError as error:
        failed = error
    else:
        assert call not in LET_IN
        return OK
    shown = [failed.details(), *(str(value) for _, value in failed.trailing_metadata())]
    assert not token[20:] or not any(token[20:] in text for text in shown)
    code, reason = reason_of(failed)
    if reason == LET_IN.get(call):
        return OK
    wanted = "PERMISSION_DENIED" if reason in DENIED else "UNAUTHENTICATED"
    assert code.name == wanted, (code, reason, failed.details())
    return reason


@pytest.mark.parametrize("column", EXPECTED)
@pytest.mark.parametrize("call", GRANTS)
def test_a_call_with_a_token(arena, client, house, call, column):
    grant = GRANTS[call]
    as_bot, as_organiser = house.said[column]
    token = as_organiser if grant in ("ORGANISE", "GOVERN") else as_bot
    expected = WITH_GUESTS if arena.tokens.guests else EXPECTED
    if grant in ("OPEN", "CODE", "WATCH"):
        wanted = OK
    elif grant == "SITE":  # whatever the token, as this call comes by a port
        wanted = "NOT_YOURS"
    elif grant in NO_GUESTS:  # as without guests, who own nothing and govern nobody
        wanted = EXPECTED[column][KINDS.index(NO_GUESTS[grant])]
    else:
        wanted = expected[column][KINDS.index(grant)]
    assert said_to(client, call, token) == wanted


def test_the_table_of_permissions_has_every_call():
    page = (ROOT / "docs/security.md").read_text()
    rows = page.partition("### Permissions of calls")[2].partition("\n\nAll calls except")[0]
    named = set()
    for row in rows.splitlines():
        service = ""
        for name in re.findall(r"`([\w./*]+)`", row.split("|")[1]) if "|" in row else ():
            service, _, method = name.rpartition("/") if "/" in name else (service, "", name)
            named.add(f"{service}/{method}")
    short = {call.removeprefix("cardarena.v1.") for call in GRANTS}
    missing = {call for call in short if not {call, f"{call.partition('/')[0]}/*"} & named}
    assert not missing, "a call in GRANTS needs a place in docs/security.md, Permissions of calls"


def test_every_call_there_is_has_its_row(client):
    known = set(GRANTS)
    ours = {
        f"{service.full_name}/{method.name}"
        for module in MODULES
        for service in services(module)
        for method in service.methods
    }
    assert ours <= known, (
        "a call in proto/ needs a line in GRANTS, one in CALLS (arena/api/admission/access.py), and one in "
        "LET_IN if an empty request of it is refused"
    )
    database = ProtoReflectionDescriptorDatabase(client.channel)
    pool = DescriptorPool(database)
    served = {
        f"{name}/{method.name}"
        for name in database.get_services()
        for method in pool.FindServiceByName(name).methods
    }
    assert served == known, "a call that is served needs a line in GRANTS, and one in CALLS"
    assert {call.removeprefix("/"): access.name for call, access in CALLS.items()} == GRANTS


def test_a_call_that_is_in_no_table_does_not_exist_though_it_is_registered():
    async def registered(details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: b"done")

    call = Details("/cardarena.v1.LobbyService/DropEverything")
    found = trio.run(CallInterceptor(Tokens(guests=True)).intercept_service, registered, call)
    assert found is None


# fmt: off
HEADERS = [
    # the authorization                                 what is said   why
    (["Bearer {token}"],                                OK,            "as it should be"),
    (["bearer {token}"],                                OK,            "schemes have no case"),
    (["Bearer  {token} "],                              OK,            "spaces around it"),
    (["{token}"],                                       "BAD_TOKEN",   "a token alone"),
    (["Basic {token}"],                                 "BAD_TOKEN",   "another scheme"),
    (["Bearer {token}", "Bearer {token}"],              "BAD_TOKEN",   "twice"),
    (["Bearer {token} {token}"],                        "BAD_TOKEN",   "two tokens"),
    (["Bearer {token}x"],                            "BAD_TOKEN",   "a character too many"),
]
# fmt: on


@pytest.mark.parametrize(("values", "wanted", "why"), HEADERS, ids=[row[-1] for row in HEADERS])
def test_the_header_of_a_token(arena, client, house, values, wanted, why):
    metadata = tuple(("authorization", value.format(token=house.bot)) for value in values)
    call = "cardarena.v1.LobbyService/ListGames"
    assert said_to(client, call, house.bot, metadata) == wanted


def test_a_key_is_valid_for_its_own_bot_only(arena, house):
    """A name is nowhere said: it follows from the key. So no key opens another's session."""
    with Client(arena.address) as anns, Client(arena.address) as bobs:
        alpha = anns.stream(house.bot)
        epoch = alpha.expect("welcome").epoch
        bobs.stream(house.others_bot).expect("welcome")
        session = arena.sessions.get(BotId("Alpha"))
        assert (session.connected, session.epoch) == (True, epoch)


def test_revoking_a_key_closes_the_stream_of_its_bot_and_no_other(arena, house):
    doomed = make_key(house.keys, Scope.BOT, "ann", "doomed")
    with Client(arena.address) as first, Client(arena.address) as second:
        stream, other = first.stream(doomed), second.stream(house.others_bot)
        stream.expect("welcome")
        other.expect("welcome")
        house.keys.revoke(key_id(doomed), NOW)
        assert reason_of(stream.error()) == (grpc.StatusCode.UNAVAILABLE, "KEYS_CHANGED")
        code, reason = reason_of(first.stream(doomed).error())
        assert (code, reason) == (grpc.StatusCode.UNAUTHENTICATED, "REVOKED_TOKEN")
        assert arena.sessions.get(BotId("beta")).connected


def test_a_guest_loses_a_name_that_a_key_claims(arena, house):
    with Client(arena.address) as client:
        stream = client.stream("guest:Gamma")
        if not arena.tokens.guests:
            assert reason_of(stream.error())[1] == "NO_TOKEN"
            return
        stream.expect("welcome")
        token = make_key(house.keys, Scope.BOT, "bob", "gamma")
        assert reason_of(stream.error())[1] == "KEYS_CHANGED"
        assert reason_of(client.stream("guest:Gamma").error())[1] == "NOT_YOURS"
        client.stream(token).expect("welcome")


def test_a_bot_with_a_second_key_plays_on_when_the_first_is_revoked(arena, house):
    first_key = make_key(house.keys, Scope.BOT, "ann", f"rotating-{arena.tokens.guests}")
    second_key = make_key(house.keys, Scope.BOT, "ann", f"rotating-{arena.tokens.guests}")
    with Client(arena.address) as client:
        stream = client.stream(second_key)
        stream.expect("welcome")
        house.keys.revoke(key_id(first_key), NOW)
        # Which key a stream was opened with is not kept: the bot is asked to say it again.
        assert reason_of(stream.error())[1] == "KEYS_CHANGED"
        assert client.stream(second_key).expect("welcome").epoch == 2
