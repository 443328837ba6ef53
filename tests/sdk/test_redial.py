"""When a bot comes back to the arena, and when it gives up."""

from random import Random

import grpc
import pytest

from cardarena._errors import Refused, Unreachable
from cardarena._redial import MAX_HOPS, Attempt, Redial, StreamEnd
from tests.doubles.clocks import Clock

HOME = "home:7654"


class Longest(Random):
    """Draws the longest wait, so that a test sees the bound."""

    def uniform(self, a, b):
        assert a == 0.0
        return b


def redial(*, once=False, clock=lambda: 0.0):
    return Redial(HOME, once=once, random=Longest(), now_s=clock)


def end(code, *, welcomed=True, lived_s=60.0, **more):
    return StreamEnd(code, "because", welcomed=welcomed, lived_s=lived_s, **more)


def full(reason):
    return end(grpc.StatusCode.RESOURCE_EXHAUSTED, error=reason)


LOST = end(grpc.StatusCode.UNAVAILABLE)
ABSENT = end(grpc.StatusCode.UNAVAILABLE, welcomed=False, lived_s=0.0)

# fmt: off
AFTER = [
    # once   how the stream ended                              comes back  why
    (False, LOST,                                              True,       "a lost stream"),
    (True,  LOST,                                              True,       "a lost stream of a bot that plays once"),
    (False, end(grpc.StatusCode.OK),                           True,       "an orderly end, without a word of closing"),
    (False, end(grpc.StatusCode.OK, draining=True),            False,      "an orderly end of an arena that closes"),
    (True,  end(grpc.StatusCode.OK),                           False,      "an orderly end, playing once"),
    (False, end(grpc.StatusCode.UNAVAILABLE, draining=True),   True,       "an arena that restarts"),
    (False, full("BUSY"),                                      True,       "an arena that is busy"),
    (False, full("TOO_MANY_OPEN"),                             True,       "an arena with too many streams"),
    (False, full("NOT_READING"),                               True,       "a bot that did not read for a while"),
    (False, end(grpc.StatusCode.DEADLINE_EXCEEDED),            True,       "a hello that came too late"),
    (False, end(grpc.StatusCode.INTERNAL, error="INCIDENT"),   True,       "an error of the arena's own"),
    (False, end(grpc.StatusCode.UNKNOWN, error="NEW"),         True,       "a status and a reason that nobody knows"),
    (False, ABSENT,                                            True,       "an arena that is not there yet"),
]
# fmt: on


@pytest.mark.parametrize(("once", "ended", "again", "why"), AFTER, ids=[row[3] for row in AFTER])
def test_a_bot_comes_back_or_not(once, ended, again, why):
    attempt = redial(once=once).after(ended)
    assert attempt == (Attempt(HOME, 0.2) if again else None)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, "the arena does not take this token"),
        (grpc.StatusCode.PERMISSION_DENIED, "the arena does not let this token play"),
        (grpc.StatusCode.FAILED_PRECONDITION, "the arena turned the bot away"),
        (grpc.StatusCode.INVALID_ARGUMENT, "the arena did not accept what the bot said"),
        (grpc.StatusCode.ABORTED, "another bot took over with the same token"),
        (grpc.StatusCode.UNIMPLEMENTED, "this server is no arena"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "the arena takes no more of what this bot says"),
    ],
)
def test_some_ends_are_final(code, sentence):
    with pytest.raises(Refused, match=sentence + r".*\(because\)"):
        redial().after(end(code))


@pytest.mark.parametrize("reason", ["TOO_MANY_REFUSALS", "TOO_MANY_MESSAGES", "MESSAGE_TOO_LONG"])
def test_a_bot_that_was_closed_for_what_it_says_would_be_again(reason):
    with pytest.raises(Refused, match="takes no more"):
        redial().after(full(reason))


# fmt: off
REASONS = [
    (False, "UNAVAILABLE", "failed to connect; last error: UNKNOWN: ipv4:127.0.0.1:1: connect: Connection refused (111)",
     "Connection refused (111)",     "a failure to connect"),
    (False, "UNAVAILABLE", "failed to connect: Ssl handshake failed: SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED: self-signed certificate",
     "its certificate is not trusted, see --ca: self-signed certificate", "an arena with a certificate of its own"),
    (False, "UNAVAILABLE", "failed to connect: Ssl handshake failed: SSL_ERROR_SSL: error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER: Invalid context",
     "it has no TLS: write its address without https://", "TLS to an arena without it"),
    (False, "UNAVAILABLE", "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:127.0.0.1:1: Socket closed",
     "it closed the connection at once: an arena with TLS needs https:// before its address, and one that requires client certificates --client-cert", "plain text to an arena with TLS"),
    (False, "UNAVAILABLE", "Socket closed", "Socket closed", "a stream that was lost before the welcome"),
    (True,  "UNAVAILABLE", "restarting: back soon", "restarting: back soon", "the arena's own words"),
    (True,  "OK",          "",                      "OK",                    "no words"),
]
# fmt: on


@pytest.mark.parametrize(
    ("welcomed", "code", "details", "reason", "why"), REASONS, ids=[row[4] for row in REASONS]
)
def test_the_reason_of_an_end_is_short(welcomed, code, details, reason, why):
    ended = StreamEnd(grpc.StatusCode[code], details, welcomed=welcomed, lived_s=0.0)
    assert ended.reason == reason
    assert ended.untrusted == ("not trusted" in reason)


def test_the_wait_doubles_up_to_half_a_minute():
    waits = redial()
    delays = [waits.after(ABSENT).delay_s for _ in range(10)]
    assert delays == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0])


def test_a_steady_stream_makes_up_for_earlier_failures_and_a_short_one_does_not():
    waits = redial()
    delays = [
        waits.after(ended).delay_s
        for ended in (ABSENT, end(grpc.StatusCode.UNAVAILABLE, lived_s=1.0), LOST)
    ]
    assert delays == pytest.approx([0.2, 0.4, 0.2])


def test_the_wait_is_drawn_between_nothing_and_its_bound():
    waits = Redial(HOME, once=False, random=Random(1), now_s=lambda: 0.0)
    delays = [waits.after(LOST).delay_s for _ in range(200)]
    assert min(delays) < 0.02
    assert 0.18 < max(delays) <= 0.2


def test_a_bot_that_plays_once_gives_up_after_ten_seconds_without_an_arena():
    clock = Clock()
    waits = redial(once=True, clock=clock)
    clock.now = 9.9
    assert waits.after(ABSENT).delay_s == pytest.approx(0.1)
    clock.now = 10.0
    with pytest.raises(Unreachable, match=r"no arena at home:7654 for 10 s \(because\)"):
        waits.after(ABSENT)


def test_the_ten_seconds_count_from_the_last_stream():
    clock = Clock()
    waits = redial(once=True, clock=clock)
    clock.now = 100.0
    assert waits.after(LOST) is not None
    clock.now = 109.0
    assert waits.after(ABSENT) is not None


def test_a_redirect_is_followed_at_once_and_the_new_endpoint_kept():
    waits = redial()
    moved = end(grpc.StatusCode.CANCELLED, redirect="other:1")
    assert waits.after(moved) == Attempt("other:1", 0.0)
    assert waits.after(LOST).endpoint == "other:1"


def test_a_bot_goes_home_where_the_new_endpoint_cannot_be_reached():
    waits = redial()
    waits.after(end(grpc.StatusCode.CANCELLED, redirect="other:1"))
    assert waits.after(ABSENT).endpoint == HOME


def test_redirects_in_a_circle_are_slowed_down():
    waits = redial()
    circle = end(grpc.StatusCode.CANCELLED, lived_s=0.0, redirect="other:1")
    delays = [waits.after(circle).delay_s for _ in range(MAX_HOPS + 2)]
    assert delays == pytest.approx([0.0] * MAX_HOPS + [0.2, 0.4])
