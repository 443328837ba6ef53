"""What the host of an arena tells of errors that nobody awaits."""

import asyncio

import pytest

from arena.server.host import tell_error

WAKE_UP = "Exception in callback PollerCompletionQueue._handle_events()()"


@pytest.mark.parametrize(
    ("message", "error", "told"),
    [
        (WAKE_UP, BlockingIOError(11, "Resource temporarily unavailable"), False),
        (WAKE_UP, RuntimeError("a queue that broke"), True),
        ("Exception in callback ours()()", BlockingIOError(11, "unavailable"), True),
        ("Task exception was never retrieved", None, True),
    ],
    ids=[
        "a wake-up of gRPC that finds nothing to read is no error",
        "any other error of gRPC is one",
        "a read of our own that would block is one",
        "so is what has no exception",
    ],
)
def test_an_error_in_a_callback_is_told_if_it_is_one(message, error, told, caplog):
    loop = asyncio.new_event_loop()
    try:
        tell_error(loop, {"message": message} | ({"exception": error} if error else {}))
    finally:
        loop.close()
    assert [message in line for line in caplog.messages] == [True] * told
