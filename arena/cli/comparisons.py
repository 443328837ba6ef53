"""`arena comparisons`: the comparisons that an owner has requested from an arena."""

import time
from collections.abc import Callable
from typing import Any, Final

import click

from arena.anytime.forecast import MOST_NEEDED
from arena.anytime.verdict import Decision
from arena.cli.arena_client import (
    PAGE,
    Server,
    ServiceClient,
    owner_options,
    patiently,
    service_client,
)
from arena.cli.command_group import CommandGroup
from arena.cli.options import json_option, print_json
from arena.cli.terminal.console import print_table, progress
from arena.cli.terminal.plain import say
from arena.wire.enums import enum_word
from cardarena.v1 import comparisons_pb2
from cardarena.v1.comparisons_pb2_grpc import ComparisonServiceStub

OPEN: Final = "open"
POLL_S: Final = 1.0
"""Time between two polls of a comparison at an arena."""


@click.group(
    cls=CommandGroup,
    default="list",
    epilog="""\b
Examples:
  arena comparisons
  arena comparisons show 3
  arena comparisons cancel 3

\b
`arena compare my-bot@7 my-bot@6 --game GAME` requests a comparison. The same request
later continues it with its deal-sets so far.
""",
)
def comparisons() -> None:
    """List, show and cancel comparisons of submitted versions."""


@comparisons.command(
    "list",
    epilog="""\b
Examples:
  arena comparisons list
  arena comparisons list --json | jq '.comparisons[] | select(.state == "open")'
""",
)
@json_option
@owner_options
def list_comparisons(*, as_json: bool, server: Server) -> None:
    """List your comparisons, the oldest first."""
    with service_client(server, ComparisonServiceStub) as arena:
        request = comparisons_pb2.ListComparisonsRequest(page_size=PAGE)
        pages = arena.pages(arena.stub.ListComparisons, request, "comparisons")
    found = [comparison_json(each) for each in pages]
    if as_json:
        print_json({"comparisons": found})
        return
    if not found:
        say("You have requested no comparison yet.")
        return
    rows = [
        (
            each["comparison"],
            each["first"],
            each["second"],
            each["state"],
            f"{each['deal_sets']} of {each['limit']}",
            each["decision"],
            f"{each['core_minutes']:g}",
        )
        for each in found
    ]
    heads = ("id", "first", "second", "state", "deal-sets", "the first is", "core-minutes")
    print_table(heads, rows, wrapped=("first", "second"))  # names are not cut


@comparisons.command(
    epilog="""\b
Examples:
  arena comparisons show 3
  arena comparisons show 3 --follow
"""
)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@click.option("--follow", is_flag=True, help="Wait until it is decided or stopped.")
@json_option
@owner_options
def show(*, number: int, follow: bool, as_json: bool, server: Server) -> None:
    """Show the comparison ID with its verdict so far."""
    request = comparisons_pb2.GetComparisonRequest(id=number)
    with service_client(server, ComparisonServiceStub) as arena:
        said = comparison_json(arena.call(arena.stub.GetComparison, request).comparison)
        if follow:
            with progress("waiting for the arena", quiet=as_json) as tell:
                said = _followed(arena, said, lambda said: tell(sentence(said)))
    _print(said, as_json=as_json)


@comparisons.command(epilog="\b\nExamples:\n  arena comparisons cancel 3")
@click.argument("number", metavar="ID", type=click.IntRange(1))
@json_option
@owner_options
def cancel(*, number: int, as_json: bool, server: Server) -> None:
    """Stop the comparison ID; its deal-sets so far are kept."""
    request = comparisons_pb2.CancelComparisonRequest(id=number)
    with service_client(server, ComparisonServiceStub) as arena:
        said = comparison_json(arena.call(arena.stub.CancelComparison, request).comparison)
    _print(said, as_json=as_json)


def _print(said: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(said)
        return
    say(sentence(said))
    if told := details(said):
        say(told)
    say(of_yours(said))


def of_yours(said: dict[str, Any]) -> str:
    """Its id, its number among the owner's comparisons, and its state, in a sentence."""
    state = said["reason"] or said["state"]
    return (
        f"Comparison {said['comparison']}, number {said['comparisons']} of yours: {state}"
        f"{among_all(said)}."
    )


def answer_of(
    server: Server,
    request: comparisons_pb2.CreateComparisonRequest,
    told: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Request a comparison, and poll it until it is decided or stopped. Ctrl-C cancels it.

    `told` gets its state at each poll.

    Raises:
      NoAnswer: if a call fails.
    """
    with service_client(server, ComparisonServiceStub) as arena:
        said = comparison_json(arena.call(arena.stub.CreateComparison, request).comparison)
        try:
            return _followed(arena, said, told)
        except KeyboardInterrupt:
            stop = comparisons_pb2.CancelComparisonRequest(id=said["comparison"])
            return comparison_json(arena.call(arena.stub.CancelComparison, stop).comparison)


def _followed(
    arena: ServiceClient[ComparisonServiceStub],
    said: dict[str, Any],
    told: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Poll a comparison until it is decided or stopped."""
    poll = comparisons_pb2.GetComparisonRequest(id=said["comparison"])
    while said["state"] == OPEN:
        told(said)
        time.sleep(POLL_S)
        found = patiently(lambda: arena.call(arena.stub.GetComparison, poll))
        said = comparison_json(found.comparison)
    return said


def comparison_json(message: comparisons_pb2.Comparison) -> dict[str, Any]:
    """A comparison as commands print it."""

    def value(field: str) -> Any:
        return getattr(message, field) if message.HasField(field) else None  # type: ignore[arg-type]

    needed = None
    if message.HasField("needed_mid"):
        needed = {
            "likely": message.needed_mid,
            "fewest": value("needed_low"),
            "most": value("needed_high"),
        }
    return {
        "comparison": message.id,
        "first": message.first,
        "second": message.second,
        "state": enum_word(comparisons_pb2.ComparisonState, message.state),
        "reason": message.reason,
        "decision": _decision(message.decision),
        "mean": message.mean,
        "low": value("low"),
        "high": value("high"),
        "e_value": _finite(message.e_value),
        "deal_sets": message.deal_sets,
        "needed": needed,
        "limit": message.limit,
        "comparisons": message.number_of_owner,
        "holds_among_all": message.holds_among_all,
        "approximate": message.approximate,
        "bound_in_deviations": value("bound_in_deviations"),
        "at_least": value("at_least"),
        "more_often": _decision(message.more_often),
        "more_often_e_value": _finite(message.more_often_e_value),
        "core_minutes": message.core_minutes,
    }


def _decision(number: comparisons_pb2.ComparisonDecision.ValueType) -> str:
    return enum_word(comparisons_pb2.ComparisonDecision, number) or str(Decision.OPEN)


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def among_all(said: dict[str, Any]) -> str:
    """Whether a verdict holds among all of the owner's comparisons; empty without a verdict."""
    if said["decision"] == str(Decision.OPEN):
        return ""
    held = "also among all of them" if said["holds_among_all"] else "so far for this one alone"
    return f", and holds {held}"


def sentence(said: dict[str, Any]) -> str:
    """The result in a sentence or two."""
    first, second = said["first"], said["second"]
    low, high = said["low"], said["high"]
    interval = (
        "nothing can be said of the size yet"
        if low is None or high is None
        else f"anytime 95 %: {low:+.2f} … {high:+.2f}"
    )
    mean, number = f"{said['mean']:+.2f}", said["deal_sets"]
    decision = said["decision"]
    evidence = "" if said["e_value"] is None else f", E = {said['e_value']:.3g} (20 decides)"
    if decision in (Decision.BETTER, Decision.WORSE):
        text = f"{first} is {decision} than {second}: {mean} points a match ({interval}), "
        text += f"{number} deal-sets{evidence}"
    elif decision == Decision.SAME:
        text = f"{first} and {second} are the same within what was asked: {mean} ({interval}), "
        text += f"{number} deal-sets"
    else:
        text = f"not decided: {mean} ({interval}) after {number} deal-sets{evidence}"
        text += _still(said["needed"])
    if said["approximate"]:
        text += "; approximate, as no rule bounds scores in this game"
    return text


def details(said: dict[str, Any]) -> str:
    """What the rules' bound costs, and who scores more in more deal-sets; empty before two deal-sets."""
    told = []
    if said["bound_in_deviations"] is not None:
        text = f"The rules allow margins of {said['bound_in_deviations']:.1f} standard deviations"
        if said["decision"] == Decision.OPEN and said["at_least"] is not None:
            text += f", so a decision at this mean takes at least {said['at_least']:,} deal-sets"
        told.append(f"{text}.")
    if said["more_often"] in (Decision.BETTER, Decision.WORSE):
        who = said["first" if said["more_often"] == Decision.BETTER else "second"]
        value = said["more_often_e_value"]
        evidence = "" if value is None else f" (E = {value:.3g})"
        told.append(f"{who} scores more in more deal-sets{evidence}, whatever the points.")
    return " ".join(told)


def _still(needed: dict[str, int | None] | None) -> str:
    if needed is None or needed["likely"] is None:
        return "; it may never be"
    fewest = "?" if needed["fewest"] is None else _number(needed["fewest"])
    most = "without end" if needed["most"] is None else _number(needed["most"])
    about = "" if needed["likely"] >= MOST_NEEDED else "about "
    return f"; {about}{_number(needed['likely'])} more ({fewest} … {most})"


def _number(needed: int) -> str:
    return f"{'over ' if needed >= MOST_NEEDED else ''}{needed:,}"
