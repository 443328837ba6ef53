"""The pages that compare two versions of an owner's bots, and list challenges of them."""

from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from arena.records.phrases import count
from arena.referee.wire.enums import word_of
from arena.web.acting.guard import Act, Ask, Who
from arena.web.acting.own_bots import games_of, usual_terms
from arena.web.plots import strip
from cardarena.v1 import bots_pb2, comparisons_pb2

_REFRESH_S: Final = 10
_PLAYABLE: Final = (
    bots_pb2.VERSION_STATE_QUALIFIED,
    bots_pb2.VERSION_STATE_ACTIVE,
    bots_pb2.VERSION_STATE_INACTIVE,
)
_WORDS: Final = {
    "better": "{first} is better",
    "worse": "{first} is worse",
    "same": "the two are equal, within what was asked for",
}


async def comparisons_page(ask: Ask) -> Response:
    """Show the owner's comparisons, challenges of the owner's bots, and the form of a new comparison."""
    own, received = [await _listed(ask, challenged=challenged) for challenged in (False, True)]
    bots = await ask.call(ask.arena.bots.ListOwnedBots, bots_pb2.ListOwnedBotsRequest())
    games = await games_of(ask, [bot.bot for bot in bots.bots])
    versions = []
    for bot in bots.bots:
        request = bots_pb2.ListVersionsRequest(bot=bot.bot)
        listed = await ask.pages(ask.arena.bots.ListVersions, request, "versions")
        versions += [f"{row.bot}@{row.version}" for row in listed if row.state in _PLAYABLE]
    return ask.page(
        "comparisons.html",
        "Comparisons",
        rows=own,
        received=received,
        games=games,
        versions=versions,
    )


async def compare(ask: Ask) -> Response:
    """Create a comparison by the game's usual terms: at one table if it has two seats, otherwise against the same opponents."""
    terms, versions = usual_terms(ask), ask.given("first", "second")
    request = comparisons_pb2.CreateComparisonRequest(
        first=versions["first"],
        second=versions["second"],
        terms=terms,
        each_other=terms.seats == 2,
    )
    created = await ask.call(ask.arena.comparisons.CreateComparison, request)
    return RedirectResponse(f"/me/compare/{created.comparison.id}", 303)


async def comparison_page(ask: Ask) -> Response:
    """Show a comparison with its evidence. While it is open, the page reloads periodically."""
    request = comparisons_pb2.GetComparisonRequest(id=ask.number("id"))
    comparison = (await ask.call(ask.arena.comparisons.GetComparison, request)).comparison
    shown = _shown(comparison)
    label = f"margins of {comparison.first} in {count(len(comparison.margins), 'deal-set')}"
    bars = strip(comparison.margins, label, bool(comparison.decision))
    title = f"{comparison.first} and {comparison.second}"
    response = ask.page("comparison.html", title, comparison=comparison, shown=shown, bars=bars)
    if shown["is_open"] and not ask.problems:
        response.headers["refresh"] = str(_REFRESH_S)
    return response


async def stop(ask: Ask) -> Response:
    """Stop a comparison, or decline a challenge of a bot of the owner; the results so far are kept."""
    request = comparisons_pb2.CancelComparisonRequest(id=ask.number("id"))
    await ask.call(ask.arena.comparisons.CancelComparison, request)
    return RedirectResponse(f"/me/compare/{request.id}", 303)


async def _listed(ask: Ask, *, challenged: bool) -> list[dict[str, Any]]:
    request = comparisons_pb2.ListComparisonsRequest(challenged=challenged)
    listed = await ask.pages(ask.arena.comparisons.ListComparisons, request, "comparisons")
    return [_shown(comparison) for comparison in reversed(listed)]


def _shown(comparison: comparisons_pb2.Comparison) -> dict[str, Any]:
    word = word_of(comparison, "decision")
    return {
        "path": f"/me/compare/{comparison.id}",
        "first": comparison.first,
        "second": comparison.second,
        "verdict": _WORDS.get(word, "not decided").format(first=comparison.first),
        "deal_sets": count(comparison.deal_sets, "deal-set"),
        "is_open": comparison.state == comparisons_pb2.COMPARISON_STATE_OPEN,
        "reason": comparison.reason,
        "challenge": comparison.challenge,
        "received": not comparison.number_of_owner,
    }


ACTS = (
    Act("GET", "/me/compare", Who.OWNER, comparisons_page),
    Act("POST", "/me/compare", Who.OWNER, compare, comparisons_page),
    Act("GET", "/me/compare/{id:number}", Who.OWNER, comparison_page),
    Act("POST", "/me/compare/{id:number}/stop", Who.OWNER, stop, comparison_page),
)
