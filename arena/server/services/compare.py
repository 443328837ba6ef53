"""The compare service: owners ask whether one version is better than another."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

import grpc

from arena.server.gate.calls import Context
from arena.server.gate.tokens import Tokens
from arena.server.inquiries import Ask, BadQuestion, answer, ask
from arena.server.orders import requested_terms
from arena.server.refusals import Refused, invalid, not_found
from arena.server.services.competitions import Judge, told
from arena.store import NoQuestion, QuestionState, QuotaSpent, Store
from cardarena.v1 import compare_pb2 as messages
from cardarena.v1 import compare_pb2_grpc

DEFAULT_DEAL_SETS: Final = 400
MAX_DEAL_SETS: Final = 20_000
QUOTA_RETRY_S: Final = 3_600.0


class CompareCalls(compare_pb2_grpc.CompareServiceServicer):
    """Serves `cardarena.v1.CompareService`."""

    def __init__(self, store: Store, tokens: Tokens, now: Callable[[], datetime]) -> None:
        self._store, self._now = store, now
        self._judge = Judge(store, tokens)

    async def AskQuestion(
        self, request: messages.AskQuestionRequest, context: Context
    ) -> messages.AskQuestionResponse:
        owner = self._judge.holder(context).owner
        terms = requested_terms(request.terms, seats=request.terms.seats, seeded=False)
        wanted = Ask(
            request.first,
            request.second,
            terms,
            request.each_other,
            min(request.max_deal_sets or DEFAULT_DEAL_SETS, MAX_DEAL_SETS),
            request.same_within if request.same_within > 0 else None,
        )

        def act() -> dict[str, Any]:
            try:
                question = ask(self._store, owner, wanted, now=self._now())
            except BadQuestion as error:
                raise invalid("BAD_QUESTION", str(error)) from None
            except QuotaSpent as error:
                code = grpc.StatusCode.RESOURCE_EXHAUSTED
                raise Refused(code, "QUOTA_SPENT", str(error), retry_s=QUOTA_RETRY_S) from None
            return answer(question, self._store.questions().asked(owner))

        return messages.AskQuestionResponse(verdict=_verdict(await told(act)))

    async def GetVerdict(
        self, request: messages.GetVerdictRequest, context: Context
    ) -> messages.GetVerdictResponse:
        owner = self._judge.holder(context).owner
        found = await told(lambda: self._answer(request.question, owner))
        return messages.GetVerdictResponse(verdict=_verdict(found))

    async def CancelQuestion(
        self, request: messages.CancelQuestionRequest, context: Context
    ) -> messages.CancelQuestionResponse:
        owner = self._judge.holder(context).owner

        def act() -> dict[str, Any]:
            self._answer(request.question, owner)  # whose it is comes first
            why = "its owner stopped it"
            self._store.questions().end(request.question, QuestionState.STOPPED, why)
            return self._answer(request.question, owner)

        return messages.CancelQuestionResponse(verdict=_verdict(await told(act)))

    def _answer(self, number: int, owner: str) -> dict[str, Any]:
        questions = self._store.questions()
        try:
            question = questions.get(number, owner)
        except NoQuestion as error:
            raise not_found("UNKNOWN_QUESTION", str(error)) from None
        return answer(question, questions.asked(owner))


def _verdict(found: dict[str, Any]) -> messages.Verdict:
    needed = found["needed"] or {}
    return messages.Verdict(
        question=found["question"],
        decision=found["decision"],
        mean=found["mean"],
        low=found["low"],
        high=found["high"],
        e_value=float("inf") if found["e_value"] is None else found["e_value"],
        deal_sets=found["deal_sets"],
        needed_mid=needed.get("likely"),
        needed_low=needed.get("fewest"),
        needed_high=needed.get("most"),
        limit=found["limit"],
        questions=found["questions"],
        holds_among_all=found["holds_among_all"],
        approximate=found["approximate"],
        state=found["state"],
        why=found["why"],
        core_minutes=found["core_minutes"],
        first=found["first"],
        second=found["second"],
    )
