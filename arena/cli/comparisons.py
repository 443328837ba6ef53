"""`arena comparisons`: the comparisons that an owner has requested from an arena."""

import math
import re
import time
from collections.abc import Callable
from typing import Final

import click

from arena.cli.arena_client import (
    OWNERS_KEY,
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
from arena.referee.wire.enums import enum_word, word_of
from arena.referee.wire.message_json import message_json
from arena.results.anytime.forecast import MOST_NEEDED
from cardarena.v1 import comparisons_pb2
from cardarena.v1.comparisons_pb2 import Comparison
from cardarena.v1.comparisons_pb2_grpc import ComparisonServiceStub

VERSION: Final = re.compile(r"[^@=/\s]+@[1-9][0-9]{0,8}")
"""A version of a bot, such as `my-bot@7`; no command looks like this."""
POLL_S: Final = 1.0


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
  arena comparisons list --json | jq '.comparisons[] | select(.state == "COMPARISON_STATE_OPEN")'
""",
)
@json_option
@owner_options
def list_comparisons(*, as_json: bool, server: Server) -> None:
    """List your comparisons, the oldest first."""
    listed = _listed(server, as_json=as_json)
    if as_json:
        return
    if not listed:
        say("You have requested no comparison yet.")
        return
    rows = [
        (
            comparison.id,
            comparison.first,
            comparison.second,
            word_of(comparison, "state"),
            f"{comparison.deal_sets} of {comparison.limit}",
            decision_word(comparison.decision),
            f"{comparison.core_minutes:g}",
        )
        for comparison in listed
    ]
    heads = ("id", "first", "second", "state", "deal-sets", "the first is", "core-minutes")
    print_table(heads, rows, wrapped=("first", "second"))  # names are not shortened


def print_received(server: Server, *, as_json: bool) -> None:
    """List the challenges of other owners to an owner's bots."""
    listed = _listed(server, as_json=as_json, challenged=True)
    if as_json:
        return
    if not listed:
        say("No bot of yours was challenged.")
        return
    rows = [
        (
            challenge.id,
            challenge.first,
            challenge.second,
            challenge.reason or word_of(challenge, "state"),
            f"{challenge.deal_sets} of {challenge.limit}",
            decision_word(challenge.decision),
        )
        for challenge in listed
    ]
    heads = ("id", "challenger", "your bot", "state", "deal-sets", "the challenger is")
    print_table(heads, rows, wrapped=("challenger", "your bot", "state"))


def _listed(server: Server, *, as_json: bool, challenged: bool = False) -> list[Comparison]:
    """Comparisons of an owner, or challenges of the owner's bots; with `as_json` they are already printed."""
    with service_client(server, ComparisonServiceStub, OWNERS_KEY) as arena:
        request = comparisons_pb2.ListComparisonsRequest(page_size=PAGE, challenged=challenged)
        listed = [*arena.pages(arena.stub.ListComparisons, request, "comparisons")]
    if as_json:
        print_json({"comparisons": [message_json(comparison) for comparison in listed]})
    return listed


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
    comparison = requested(server, request, follow=follow, quiet=as_json)
    print_comparison(comparison, as_json=as_json)


@comparisons.command(epilog="\b\nExamples:\n  arena comparisons cancel 3")
@click.argument("number", metavar="ID", type=click.IntRange(1))
@json_option
@owner_options
def cancel(*, number: int, as_json: bool, server: Server) -> None:
    """Stop the comparison ID; its deal-sets so far are kept."""
    print_stopped(server, number, as_json=as_json)


def print_stopped(server: Server, number: int, *, as_json: bool) -> None:
    """Stop a comparison of an owner, or a challenge of one of the owner's bots, and print it."""
    request = comparisons_pb2.CancelComparisonRequest(id=number)
    with service_client(server, ComparisonServiceStub, OWNERS_KEY) as arena:
        comparison = arena.call(arena.stub.CancelComparison, request).comparison
    print_comparison(comparison, as_json=as_json)


def print_comparison(comparison: Comparison, *, as_json: bool) -> None:
    """Print a comparison with its verdict so far."""
    if as_json:
        print_json(message_json(comparison))
        return
    say(sentence(comparison))
    if more := details(comparison):
        say(more)
    say(of_yours(comparison))


def requested(
    server: Server,
    request: comparisons_pb2.GetComparisonRequest | comparisons_pb2.CreateComparisonRequest,
    *,
    follow: bool,
    quiet: bool,
) -> Comparison:
    """Get or create a comparison; if `follow`, wait until it has ended."""
    with service_client(server, ComparisonServiceStub, OWNERS_KEY) as arena:
        if isinstance(request, comparisons_pb2.CreateComparisonRequest):
            comparison = arena.call(arena.stub.CreateComparison, request).comparison
        else:
            comparison = arena.call(arena.stub.GetComparison, request).comparison
        if follow:
            with progress("waiting for the arena", quiet=quiet) as tell:
                comparison = _followed(arena, comparison, lambda so_far: tell(sentence(so_far)))
    return comparison


def of_yours(comparison: Comparison) -> str:
    """Return its id, its number among the owner's comparisons, and its state, in a sentence."""
    state = comparison.reason or word_of(comparison, "state")
    kind = "Challenge" if comparison.challenge else "Comparison"
    if comparison.challenge and not comparison.number_of_owner:
        return f"{kind} {comparison.id} of a bot of yours: {state}."
    return (
        f"{kind} {comparison.id}, number {comparison.number_of_owner} of yours: {state}"
        f"{among_all(comparison)}."
    )


def answer_of(
    server: Server,
    request: comparisons_pb2.CreateComparisonRequest,
    on_look: Callable[[Comparison], None],
) -> Comparison:
    """Request a comparison, and poll it until it is decided or stopped. Ctrl-C cancels it.

    `on_look` gets its state at each poll.

    Raises `NoAnswer` if a call fails.
    """
    with service_client(server, ComparisonServiceStub, OWNERS_KEY) as arena:
        comparison = arena.call(arena.stub.CreateComparison, request).comparison
        try:
            return _followed(arena, comparison, on_look)
        except KeyboardInterrupt:
            stop = comparisons_pb2.CancelComparisonRequest(id=comparison.id)
            return arena.call(arena.stub.CancelComparison, stop).comparison


def _followed(
    arena: ServiceClient[ComparisonServiceStub],
    comparison: Comparison,
    on_look: Callable[[Comparison], None],
) -> Comparison:
    poll = comparisons_pb2.GetComparisonRequest(id=comparison.id)
    while comparison.state == comparisons_pb2.COMPARISON_STATE_OPEN:
        on_look(comparison)
        time.sleep(POLL_S)
        comparison = patiently(lambda: arena.call(arena.stub.GetComparison, poll)).comparison
    return comparison


def is_decided(comparison: Comparison) -> bool:
    """Return whether it has a decision."""
    return comparison.decision != comparisons_pb2.COMPARISON_DECISION_UNSPECIFIED


def decision_word(number: comparisons_pb2.ComparisonDecision.ValueType) -> str:
    """Return a decision in a word or two."""
    return enum_word(comparisons_pb2.ComparisonDecision, number) or "not decided"


def among_all(comparison: Comparison) -> str:
    """Return whether a verdict holds among all of the owner's comparisons; empty without a verdict."""
    if not is_decided(comparison):
        return ""
    held = "also among all of them" if comparison.holds_among_all else "so far for this one alone"
    return f", and holds {held}"


def sentence(comparison: Comparison) -> str:
    """Return the result in a sentence or two."""
    first, second = comparison.first, comparison.second
    interval = (
        f"anytime 95 %: {comparison.low:+.2f} … {comparison.high:+.2f}"
        if comparison.HasField("low") and comparison.HasField("high")
        else "nothing can be said of the size yet"
    )
    mean, number = f"{comparison.mean:+.2f}", comparison.deal_sets
    evidence = _evidence(", E = {:.3g} (20 decides)", comparison.e_value)
    match comparison.decision:
        case comparisons_pb2.COMPARISON_DECISION_SAME:
            text = f"{first} and {second} are the same within what was asked: {mean} ({interval}), "
            text += f"{number} deal-sets"
        case comparisons_pb2.COMPARISON_DECISION_UNSPECIFIED:
            text = f"not decided: {mean} ({interval}) after {number} deal-sets{evidence}"
            text += _still(comparison)
        case decision:
            text = f"{first} is {decision_word(decision)} than {second}: {mean} points a match "
            text += f"({interval}), {number} deal-sets{evidence}"
    if comparison.approximate:
        text += "; approximate, as no rule bounds scores in this game"
    return text


def details(comparison: Comparison) -> str:
    """Return sentences about the plain estimate, the cost of the rules' bound, and the bot that scores more in more deal-sets; empty before two deal-sets."""
    sentences = [plain] if (plain := plain_estimate(comparison)) else []
    if comparison.HasField("bound_in_deviations"):
        bound = f"{comparison.bound_in_deviations:.1f}"
        text = f"The rules allow margins of {bound} standard deviations"
        if not is_decided(comparison) and comparison.HasField("at_least"):
            text += f", so a decision at this mean takes at least {comparison.at_least:,} deal-sets"
        sentences.append(f"{text}.")
    if comparison.more_often != comparisons_pb2.COMPARISON_DECISION_UNSPECIFIED:
        is_first = comparison.more_often == comparisons_pb2.COMPARISON_DECISION_BETTER
        who = comparison.first if is_first else comparison.second
        evidence = _evidence(" (E = {:.3g})", comparison.more_often_e_value)
        sentences.append(f"{who} scores more in more deal-sets{evidence}, whatever the points.")
    return " ".join(sentences)


def plain_estimate(comparison: Comparison) -> str:
    """Return the plain estimate of the mean, and when its interval holds; empty if there is none."""
    if not comparison.HasField("plain_low"):
        return ""
    low, high, number = comparison.plain_low, comparison.plain_high, comparison.deal_sets
    estimate = f"{comparison.mean:+.2f} ± {(high - low) / 2:.2f} (95 %)"
    if is_decided(comparison):
        return f"A plain estimate is {estimate}. Play stopped by the result, so it is rather too far from zero."
    if low <= 0.0 <= high:
        text = f"A plain estimate is {estimate}, which does not say who is better."
    else:
        better = "better" if low > 0.0 else "worse"
        text = f"{comparison.first} is probably {better} than {comparison.second}: "
        text += f"a plain estimate is {estimate}."
    text += (
        f" The ± holds only if {number:,} deal-sets were chosen before play, and not by the result"
    )
    if comparison.HasField("needed_mid"):
        total = comparison.needed_mid + number
        total_words = (
            f"about {total:,}" if comparison.needed_mid < MOST_NEEDED else "over 1,000,000"
        )
        text += f"; the test that may be stopped at any time needs {total_words} deal-sets in all"
    return f"{text}."


def _evidence(phrase: str, e_value: float) -> str:
    """Return a phrase with the evidence in it; empty if it is infinite."""
    return phrase.format(e_value) if math.isfinite(e_value) else ""


def _still(comparison: Comparison) -> str:
    if not comparison.HasField("needed_mid"):
        return "; it may never be"
    fewest = _number(comparison.needed_low) if comparison.HasField("needed_low") else "?"
    most = _number(comparison.needed_high) if comparison.HasField("needed_high") else "without end"
    about = "" if comparison.needed_mid >= MOST_NEEDED else "about "
    return f"; {about}{_number(comparison.needed_mid)} more ({fewest} … {most})"


def _number(needed: int) -> str:
    return f"{'over ' if needed >= MOST_NEEDED else ''}{needed:,}"
