"""The comparison service: owners request comparisons of two versions of their bots."""

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from arena.api.admission.access import holder_of
from arena.api.pages import numbered_page
from arena.api.store_refusals import on_thread
from arena.bots.tokens import Tokens
from arena.contests.comparison_requests import (
    ComparisonQuery,
    JudgedComparison,
    challenges_of,
    end_request,
    judged,
    request_comparison,
    seen_by,
    verdict_of,
)
from arena.live.limits import Context
from arena.live.orders import requested_terms
from arena.referee.wire.enums import enum_number
from arena.results.anytime.forecast import MOST_NEEDED
from arena.results.anytime.verdict import Decision, Verdict
from arena.store import ComparisonRequest, Store
from cardarena.v1 import comparisons_pb2 as messages
from cardarena.v1 import comparisons_pb2_grpc

DEFAULT_DEAL_SETS: Final = 400
MAX_DEAL_SETS: Final = 20_000

MAX_MARGINS: Final = 200


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
            _deal_sets(request),
            request.same_within if request.same_within > 0 else None,
            request.challenge,
        )

        def act() -> messages.Comparison:
            requested = request_comparison(self._store, owner, wanted, now=self._now())
            return self._message(requested.id, owner)

        return messages.CreateComparisonResponse(comparison=await on_thread(act))

    async def GetComparison(
        self, request: messages.GetComparisonRequest, context: Context
    ) -> messages.GetComparisonResponse:
        owner = holder_of(context, self._tokens).owner

        def act() -> messages.Comparison:
            comparison = self._message(request.id, owner)
            stored = self._store.comparison_requests().get(request.id)
            comparison.margins.extend(stored.margins[-MAX_MARGINS:])
            return comparison

        comparison = await on_thread(act)
        return messages.GetComparisonResponse(comparison=comparison)

    async def ListComparisons(
        self, request: messages.ListComparisonsRequest, context: Context
    ) -> messages.ListComparisonsResponse:
        owner = holder_of(context, self._tokens).owner

        def act() -> tuple[list[messages.Comparison], str]:
            if request.challenged:
                challenges = challenges_of(self._store, owner)
                shown, token = numbered_page(challenges, request.page_size, request.page_token)
                return [challenge_message(challenge) for challenge in shown], token
            of_owner = judged(self._store.comparison_requests().of_owner(owner))
            page, token = numbered_page([*of_owner.values()], request.page_size, request.page_token)
            return [comparison_message(comparison) for comparison in page], token

        comparisons, token = await on_thread(act)
        return messages.ListComparisonsResponse(comparisons=comparisons, next_page_token=token)

    async def CancelComparison(
        self, request: messages.CancelComparisonRequest, context: Context
    ) -> messages.CancelComparisonResponse:
        owner = holder_of(context, self._tokens).owner

        def act() -> messages.Comparison:
            end_request(self._store, request.id, owner)
            return self._message(request.id, owner)

        return messages.CancelComparisonResponse(comparison=await on_thread(act))

    def _message(self, number: int, owner: str) -> messages.Comparison:
        request = seen_by(self._store, number, owner)
        if request.owner != owner:
            return challenge_message(request)
        return comparison_message(judged(self._store.comparison_requests().of_owner(owner))[number])


def _deal_sets(request: messages.CreateComparisonRequest) -> int:
    """Return the most deal-sets of a request; 0 for as many as a challenge has."""
    if request.challenge:
        return request.max_deal_sets
    return min(request.max_deal_sets or DEFAULT_DEAL_SETS, MAX_DEAL_SETS)


def comparison_message(judged: JudgedComparison) -> messages.Comparison:
    """Return a comparison that an owner requested, as a message."""
    message = challenge_message(judged.request, judged.verdict)
    spent_ms = sum(judged.request.core_ms_by_day.values())
    of_owner = messages.Comparison(
        number_of_owner=judged.number,
        holds_among_all=judged.holds_among_all,
        core_minutes=round(spent_ms / 60_000, 2),
    )
    message.MergeFrom(of_owner)
    return message


def challenge_message(
    request: ComparisonRequest, verdict: Verdict | None = None
) -> messages.Comparison:
    """Return a comparison as a message for the owner of the challenged bot, without what only the challenger may see."""
    bots, verdict = (
        (request.query["first"], request.query["second"]),
        verdict or verdict_of(request),
    )
    message = verdict_message(verdict, *bots, limit=request.query["most"])
    of_request = messages.Comparison(
        id=request.id,
        reason=request.reason,
        state=enum_number(messages.ComparisonState, request.state),
        challenge=bool(request.opponent),
    )
    message.MergeFrom(of_request)
    return message


def verdict_message(
    verdict: Verdict, first: str, second: str, *, limit: int
) -> messages.Comparison:
    """Return the bots of a comparison and its verdict so far as a message, without the fields that an arena adds."""
    needed, plain = verdict.needed, verdict.plain
    return messages.Comparison(
        first=first,
        second=second,
        limit=limit,
        decision=_decision_number(verdict.decision),
        mean=verdict.mean,
        low=_finite(verdict.low),
        high=_finite(verdict.high),
        e_value=verdict.e_value,
        deal_sets=verdict.deal_sets,
        needed_mid=None if needed is None else needed.likely,
        needed_low=None if needed is None else needed.fewest,
        needed_high=None if needed is None else needed.most,
        approximate=verdict.approximate,
        bound_in_deviations=verdict.bound_in_deviations,
        at_least=None if verdict.at_least is None else min(verdict.at_least, MOST_NEEDED),
        more_often=_decision_number(verdict.more_often),
        more_often_e_value=verdict.more_often_e_value,
        plain_low=None if plain is None else plain[0],
        plain_high=None if plain is None else plain[1],
    )


def _decision_number(decision: Decision) -> Any:
    word = "" if decision is Decision.OPEN else decision
    return enum_number(messages.ComparisonDecision, word)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
