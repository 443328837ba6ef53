"""The comparison service: owners request comparisons of two versions of their bots."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from arena.anytime.forecast import MOST_NEEDED
from arena.anytime.verdict import Decision
from arena.server.admission.access import holder_of
from arena.server.admission.limits import Context
from arena.server.admission.tokens import Tokens
from arena.server.comparison_requests import (
    ComparisonQuery,
    comparison_json,
    comparisons_json,
    request_comparison,
)
from arena.server.orders import requested_terms
from arena.server.services.pages import numbered_page
from arena.server.services.store_refusals import on_thread
from arena.store import ComparisonState, Store
from arena.wire.enums import enum_number
from cardarena.v1 import comparisons_pb2 as messages
from cardarena.v1 import comparisons_pb2_grpc

DEFAULT_DEAL_SETS: Final = 400
MAX_DEAL_SETS: Final = 20_000


class ComparisonCalls(comparisons_pb2_grpc.ComparisonServiceServicer):
    """Serves `cardarena.v1.ComparisonService`."""

    def __init__(self, store: Store, tokens: Tokens, now: Callable[[], datetime]) -> None:
        self._store, self._tokens, self._now = store, tokens, now

    async def CreateComparison(
        self, request: messages.CreateComparisonRequest, context: Context
    ) -> messages.CreateComparisonResponse:
        owner = holder_of(context, self._tokens).owner
        terms = requested_terms(request.terms, seats=request.terms.seats, seeded=False)
        wanted = ComparisonQuery(
            request.first,
            request.second,
            terms,
            request.each_other,
            min(request.max_deal_sets or DEFAULT_DEAL_SETS, MAX_DEAL_SETS),
            request.same_within if request.same_within > 0 else None,
        )

        def act() -> dict[str, Any]:
            found = request_comparison(self._store, owner, wanted, now=self._now())
            return comparison_json(found, self._store.comparison_requests().of_owner(owner))

        return messages.CreateComparisonResponse(comparison=_message(await on_thread(act)))

    async def GetComparison(
        self, request: messages.GetComparisonRequest, context: Context
    ) -> messages.GetComparisonResponse:
        owner = holder_of(context, self._tokens).owner
        found = await on_thread(self._found, request.id, owner)
        return messages.GetComparisonResponse(comparison=_message(found))

    async def ListComparisons(
        self, request: messages.ListComparisonsRequest, context: Context
    ) -> messages.ListComparisonsResponse:
        owner = holder_of(context, self._tokens).owner

        def act() -> tuple[list[dict[str, Any]], str]:
            of_owner = self._store.comparison_requests().of_owner(owner)
            page, token = numbered_page(of_owner, request.page_size, request.page_token)
            return comparisons_json(page, of_owner), token

        found, token = await on_thread(act)
        return messages.ListComparisonsResponse(
            comparisons=[_message(each) for each in found], next_page_token=token
        )

    async def CancelComparison(
        self, request: messages.CancelComparisonRequest, context: Context
    ) -> messages.CancelComparisonResponse:
        owner = holder_of(context, self._tokens).owner

        def act() -> dict[str, Any]:
            self._found(request.id, owner)  # refuses a comparison of another owner
            reason = "its owner stopped it"
            self._store.comparison_requests().end(request.id, ComparisonState.STOPPED, reason)
            return self._found(request.id, owner)

        return messages.CancelComparisonResponse(comparison=_message(await on_thread(act)))

    def _found(self, number: int, owner: str) -> dict[str, Any]:
        requests = self._store.comparison_requests()
        return comparison_json(requests.get(number, owner), requests.of_owner(owner))


_SAME: Final = [
    "mean",
    "low",
    "high",
    "deal_sets",
    "limit",
    "holds_among_all",
    "approximate",
    "reason",
    "core_minutes",
    "first",
    "second",
]
"""Fields that have the same name and value in the message and in the JSON."""


def _decision_number(decision: str) -> Any:
    undecided = decision == Decision.OPEN
    return enum_number(messages.ComparisonDecision, "" if undecided else decision)


def _or_infinite(value: float | None) -> float:
    return float("inf") if value is None else value


def _message(found: dict[str, Any]) -> messages.Comparison:
    needed = found["needed"] or {}
    return messages.Comparison(
        id=found["comparison"],
        decision=_decision_number(found["decision"]),
        state=enum_number(messages.ComparisonState, found["state"]),
        e_value=_or_infinite(found["e_value"]),
        needed_mid=needed.get("likely"),
        needed_low=needed.get("fewest"),
        needed_high=needed.get("most"),
        number_of_owner=found["comparisons"],
        bound_in_deviations=found["bound_in_deviations"],
        at_least=None if found["at_least"] is None else min(found["at_least"], MOST_NEEDED),
        more_often=_decision_number(found["more_often"]),
        more_often_e_value=_or_infinite(found["more_often_e_value"]),
        **{name: found[name] for name in _SAME},
    )
