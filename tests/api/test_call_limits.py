"""Who is let in, how lists are paged, and how a refusal is carried."""

import asyncio
import contextlib

import grpc
import pytest
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1.health_pb2 import HealthCheckRequest

from arena.api.admission.calls import next_message, refuse
from arena.api.health import Health
from arena.api.pages import PagePosition, page_size
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, new_token
from arena.errors import refusal
from arena.errors.refused import MAX_DETAIL_CHARS, Refused
from arena.testing.orders import match_request
from tests.doubles.calls import Call
from tests.fuzz.calls import House

ANN, BOB = BotId("ann"), BotId("bob", 2)
ANNS, BOBS = new_token(), new_token()


def tokens(*, guests):
    known = Tokens(guests=guests)
    known.add(ANNS, ANN)
    known.add(BOBS, BOB)
    return known


# fmt: off
LET_IN = [
    (False, ANNS,                    ANN,                   "a known token"),
    (False, BOBS,                    BOB,                   "an instance of a bot"),
    (True,  ANNS,                    ANN,                   "a known token, where guests are let in"),
    (True,  "guest:carl",            BotId("carl"),         "a guest"),
    (True,  "guest:C-3 P.o_" + "x" * 23, BotId("C-3 P.o_" + "x" * 23), "a long name"),
    (False, "guest:carl",            "NO_TOKEN",            "a guest where none are let in"),
    (True,  ANNS[:-1],               "BAD_TOKEN",           "almost a token"),
    (True,  "",                      "NO_TOKEN",            "no token"),
    (True,  "carl",                  "BAD_TOKEN",           "a name alone"),
    (True,  "guest:",                "BAD_NAME",            "a guest without a name"),
    (True,  "guest: carl",           "BAD_NAME",            "a name that begins with a space"),
    (True,  "guest:" + "x" * 33,     "BAD_NAME",            "a name that is too long"),
    (True,  "guest:c\u0430rl",       "BAD_NAME",            "a name with a letter that looks like another"),
    (True,  "guest:carl\n",          "BAD_NAME",            "a name with a line break"),
    (True,  "guest:ann",             "NOT_YOURS",           "the name of a bot that has a token"),
    (True,  "guest:BoB",             "NOT_YOURS",           "that name in other letters"),
    (True,  new_token(),             "UNKNOWN_TOKEN",       "another arena's token"),
]
# fmt: on


@pytest.mark.parametrize(
    ("guests", "token", "expected", "why"), LET_IN, ids=[r[-1] for r in LET_IN]
)
def test_a_token_belongs_to(guests, token, expected, why):
    if isinstance(expected, BotId):
        assert tokens(guests=guests).bot(token) == expected
    else:
        with pytest.raises(Refused) as refused:
            tokens(guests=guests).bot(token)
        assert refused.value.reason == expected
        codes = {"BAD_NAME": "INVALID_ARGUMENT", "NOT_YOURS": "PERMISSION_DENIED"}
        assert refused.value.code.name == codes.get(expected, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("asked", "shown"), [(0, 50), (99, 99), (100, 100), (101, 100), (2**32 - 1, 100)]
)
def test_a_page_has_at_most_100(asked, shown):
    assert page_size(asked) == shown


@pytest.mark.parametrize("token", ["item 10", "ended-", "ended-1", "ended-x-m", "in-play-"])
def test_a_token_that_was_never_given_out_is_refused(token):
    with pytest.raises(Refused) as refused:
        PagePosition.of_token(token)
    assert refused.value.reason == "BAD_PAGE_TOKEN"


@pytest.mark.parametrize(
    ("reason", "late", "code"),
    [
        ("UNKNOWN_BOT", False, grpc.StatusCode.NOT_FOUND),
        ("NO_HELLO", False, grpc.StatusCode.FAILED_PRECONDITION),
        ("NO_HELLO", True, grpc.StatusCode.DEADLINE_EXCEEDED),
    ],
    ids=["one status", "the usual one of two", "nothing came in time"],
)
def test_a_refusal_carries_its_reason_for_programs(reason, late, code):
    refused = Refused(reason, "some words", late=late)
    ((key, value),) = refused.trailing_metadata()
    assert key == "grpc-status-details-bin"
    status = Status.FromString(value)
    assert (status.code, status.message) == (code.value[0], refusal(reason).message("some words"))
    info = ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == (reason, "cardarena")


def test_a_refusal_does_not_repeat_a_long_text():
    refused = Refused("BAD_PLAN", "x" * 60_000)
    assert refused.text.count("x") == MAX_DETAIL_CHARS - 1
    assert refused.text.endswith("x… (R-BAD-PLAN)")
    assert len(refused.trailing_metadata()[0][1]) < 1_000


class NotAborted(Call):
    """A call that must end by returning: what gRPC keeps of one that was aborted, it never gives back."""

    async def abort(self, code, text=""):
        pytest.fail(f"aborted with {code}: {text}")


def test_a_refusal_ends_a_call_without_an_abort():
    call = NotAborted()
    refused = Refused("MALFORMED", "no such message")
    refuse(call, refused)
    assert (call.code.name, call.text) == ("INVALID_ARGUMENT", refused.text)
    assert call.trailers == refused.trailing_metadata()


class Unread(Call):
    """A call on which nothing comes."""

    def __init__(self):
        super().__init__()
        self.reads, self.begun = [], asyncio.Event()

    async def read(self):
        self.reads.append(asyncio.get_running_loop().create_future())
        self.begun.set()
        return await self.reads[-1]


async def nothing_in_time(call):
    with pytest.raises(TimeoutError):
        await next_message(call, 0.0)


async def given_up(call):
    waiting = asyncio.create_task(next_message(call, 60.0))
    await call.begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize("ends", [nothing_in_time, given_up])
def test_a_read_survives_its_cancelled_waiter(ends):
    """What gRPC keeps of a read that is cancelled, it never gives back."""

    async def outlasts():
        call = Unread()
        await ends(call)
        assert [each.done() for each in call.reads] == [False]
        call.reads[0].set_result(grpc.aio.EOF)  # as when the call is over

    asyncio.run(outlasts())


def test_a_bot_with_a_key_sits_once_at_a_table_and_a_guest_may_try_itself(tmp_path):
    create = "/cardarena.v1.LobbyService/CreateMatch"
    with contextlib.ExitStack() as files:
        house = House(tmp_path, files)
        house.arena.tokens.add(ANNS, BotId("keyed"))
        for name, code in (("keyed", "INVALID_ARGUMENT"), ("ann", "OK")):
            request = match_request("abstrac", [name, name]).SerializeToString()
            _, context = house.call(create, "", request)
            assert context.code.name == code
        house.loop.close()


@pytest.mark.parametrize("service", ["cardarena.v1.PlayService", "x" * 60_000])
def test_health_of_a_service_by_name_is_refused_and_not_aborted(service):
    with pytest.raises(Refused) as raised:
        asyncio.run(Health().Check(HealthCheckRequest(service=service), NotAborted()))
    assert raised.value.code is grpc.StatusCode.NOT_FOUND
