"""Questions that an owner asks an arena: is this version of a bot better than that one?"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from arena.cli.lobby import Caller, Server, channel_of, patiently
from arena.terms import MatchTerms
from arena.wire.terms import terms_message
from cardarena.v1 import compare_pb2, compare_pb2_grpc

VERSION: Final = re.compile(r"[^@=/\s]+@[1-9][0-9]{0,8}")
"""A version of a bot, as in `my-bot@7`; nothing that could be launched looks so."""
OPEN: Final = "open"
LOOK_S: Final = 1.0
"""Between two looks at a question that is being answered."""


def answer_of(
    server: Server,
    first: str,
    second: str,
    terms: MatchTerms,
    *,
    each_other: bool,
    most: int,
    same_within: float | None,
    told: Callable[[dict[str, Any]], None],
    sleep: Callable[[float], None],
) -> dict[str, Any]:
    """Ask, and follow the question until it is answered or stopped.

    Args:
      server: The arena, and an owner's token.
      first: A version of the owner's.
      second: Another.
      terms: What is played.
      each_other: Whether they sit at one table.
      most: Deal-sets after which it is given up.
      same_within: Points within which they are the same; None does not ask that.
      told: Hears what is known, at each look.
      sleep: Waits so many seconds.

    Raises:
      NoLobby: if a call fails.
    """
    with channel_of(server) as channel:
        caller, stub = Caller(server), compare_pb2_grpc.CompareServiceStub(channel)
        request = compare_pb2.AskQuestionRequest(
            first=first,
            second=second,
            terms=terms_message(terms),
            each_other=each_other,
            max_deal_sets=most,
            same_within=same_within or 0.0,
        )
        said = _verdict(caller.call(stub.AskQuestion, request).verdict)
        try:
            while said["state"] == OPEN:
                told(said)
                sleep(LOOK_S)
                look = compare_pb2.GetVerdictRequest(question=said["question"])
                said = _verdict(
                    patiently(partial(caller.call, stub.GetVerdict, look), sleep=sleep).verdict
                )
        except KeyboardInterrupt:
            stop = compare_pb2.CancelQuestionRequest(question=said["question"])
            said = _verdict(caller.call(stub.CancelQuestion, stop).verdict)
    return said


def _verdict(message: compare_pb2.Verdict) -> dict[str, Any]:
    needed = None
    if message.HasField("needed_mid"):
        needed = {
            "likely": message.needed_mid,
            "fewest": message.needed_low if message.HasField("needed_low") else None,
            "most": message.needed_high if message.HasField("needed_high") else None,
        }
    return {
        "question": message.question,
        "state": message.state,
        "why": message.why,
        "decision": message.decision,
        "mean": message.mean,
        "low": message.low if message.HasField("low") else None,
        "high": message.high if message.HasField("high") else None,
        "e_value": message.e_value if message.e_value < float("inf") else None,
        "deal_sets": message.deal_sets,
        "needed": needed,
        "limit": message.limit,
        "questions": message.questions,
        "holds_among_all": message.holds_among_all,
        "approximate": message.approximate,
        "core_minutes": message.core_minutes,
    }
