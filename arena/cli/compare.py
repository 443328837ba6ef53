"""`arena compare`: an anytime test of whether one bot is better than another."""

import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import trio

from arena.anytime.verdict import Decision, Verdict, verdict
from arena.cli.arena_client import Server, owner_options
from arena.cli.comparisons import answer_of, details, of_yours, sentence
from arena.cli.options import (
    ChosenTerms,
    GameType,
    bot_commands,
    data_option,
    json_option,
    log_to,
    plain_errors,
    print_json,
    terms_options,
)
from arena.cli.sandbox_options import SandboxChoice, sandbox_options
from arena.cli.terminal.console import progress
from arena.cli.terminal.plain import say
from arena.errors import exits
from arena.games.game import Game
from arena.sandbox import BotCommand, Sandbox
from arena.server.admission.tokens import Tokens
from arena.server.app import sandboxed, serve
from arena.server.arena import Arena
from arena.server.comparison_requests import verdict_json
from arena.server.competitions.arena_player import order_of
from arena.server.competitions.comparison import (
    Comparison,
    ComparisonWork,
    UnfinishedComparison,
    name_of,
    play_comparison,
)
from arena.server.competitions.players import Players
from arena.terms import MatchTerms
from arena.wire.terms import terms_message
from cardarena.v1 import comparisons_pb2

DEFAULT_DEAL_SETS: Final = 400
FIELD: Final = "field"
VERSION: Final = re.compile(r"[^@=/\s]+@[1-9][0-9]{0,8}")
"""A version of a bot, such as `my-bot@7`; no command looks like this."""


@click.command(
    epilog="""\b
Examples:
  arena compare my_bot.py old_bot.py --game klaberjass
  arena compare new=./new old=./old --game soko --against ./rival --against ./other
  arena compare my_bot.py old_bot.py --game sixty_six --each-other --deal-sets 2000
  arena compare my_bot.py old_bot.py --game jam --same-within 0.5 --json
  arena compare my-bot@7 my-bot@6 --game klaberjass      # submitted versions

\b
You may watch the result and stop at any time: at most one comparison of equal bots in
twenty ends with a wrong decision. The exit code is 0 with a decision, and 4 without.
"""
)
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option("--game", required=True, type=GameType(), help="The game that they play.")
@click.option("--seats", type=int, help="Seats at a table.  [default: the fewest of the game]")
@click.option(
    "--against",
    multiple=True,
    default=(FIELD,),
    metavar="COMMAND",
    help="Opponents of both, on the same boards; `field` is the arena's own bots.",
)
@click.option("--each-other", is_flag=True, help="Let them play each other, in two-seat games.")
@click.option(
    "--deal-sets",
    "most",
    default=DEFAULT_DEAL_SETS,
    type=click.IntRange(1),
    help="Largest number of deal-sets.",
)
@click.option(
    "--same-within",
    type=click.FloatRange(0, min_open=True),
    metavar="POINTS",
    help="Also stop when the difference is certainly smaller than this.",
)
@click.option("--seed", help="Repeats deals and opponents; without it the deals are fair.")
@terms_options
@sandbox_options
@json_option
@owner_options
@data_option
def compare(
    *,
    first: str,
    second: str,
    game: Game,
    seats: int | None,
    against: tuple[str, ...],
    each_other: bool,
    most: int,
    same_within: float | None,
    seed: str | None,
    chosen: ChosenTerms,
    confinement: SandboxChoice,
    as_json: bool,
    server: Server,
    data: Path,
) -> None:
    """Test whether one bot is better than another, each given as a command, [NAME=]COMMAND.

    Both play the same seats of the same boards against the same opponents. Comparisons are not rated.
    Matches are as short as the game allows, one deal by each seat: more hands a match do not decide
    sooner. `-o hands=N` plays longer ones.

    Two of your submitted versions, such as my-bot@7 and my-bot@6, are compared by the arena, against
    the active bots of other owners. The arena counts your comparisons. Ctrl-C cancels this one; the
    same command continues it later. `arena comparisons` lists them.
    """
    opponents = [each for each in against if each != FIELD]
    if each_other and opponents:
        raise click.UsageError("choose one of --each-other and --against")
    by_arena = VERSION.fullmatch(first) and VERSION.fullmatch(second)
    if by_arena and (opponents or seed is not None):
        raise click.UsageError(
            "an arena compares versions against its own field, and draws the deals: leave "
            "--against and --seed out"
        )
    commands = () if by_arena else bot_commands([first, second, *opponents])
    terms = chosen.of(game, seats, seeded=seed is not None, shortest=True)
    if by_arena:
        request = comparisons_pb2.CreateComparisonRequest(
            first=first,
            second=second,
            terms=terms_message(terms),
            each_other=each_other,
            max_deal_sets=most,
            same_within=same_within or 0.0,
        )
        with progress("waiting for the arena", quiet=as_json) as tell:
            said = answer_of(server, request, lambda said: tell(sentence(said)))
    else:
        comparison = _comparison(terms, commands, seed, each_other=each_other)
        first, second = comparison.first, comparison.second
        log_to(data)
        with (
            plain_errors(),
            confinement.open(data, commands) as sandbox,
            progress("waiting for the bots", quiet=as_json) as tell,
        ):
            margins = _margins(
                comparison,
                commands,
                data,
                sandbox,
                most,
                same_within,
                lambda margins: tell(_so_far(_verdict(comparison, margins, same_within))),
            )
        said = {"first": first, "second": second, "limit": most}
        said |= verdict_json(_verdict(comparison, margins, same_within))
    if as_json:
        print_json({"game": game.id, "seats": terms.seats} | said)
    else:
        say(sentence(said))
        if told := details(said):
            say(told)
        if by_arena:
            say(of_yours(said))
    if said["decision"] == str(Decision.OPEN):
        raise click.exceptions.Exit(exits.UNDECIDED)


# Comparisons on this machine.


def _comparison(
    terms: MatchTerms, commands: tuple[BotCommand, ...], seed: str | None, *, each_other: bool
) -> Comparison:
    first, second, *field = (each.name for each in commands)
    seed = seed or secrets.token_hex(8)
    name = name_of(seed, secrets.token_hex(8))  # a new name, so that no stored match counts
    try:
        return Comparison(name, terms, first, second, tuple(field), each_other, seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _verdict(comparison: Comparison, margins: list[float], same_within: float | None) -> Verdict:
    return verdict(margins, comparison.measure.bound, same_within=same_within)


def _margins(
    comparison: Comparison,
    commands: tuple[BotCommand, ...],
    data: Path,
    sandbox: Sandbox | None,
    most: int,
    same_within: float | None,
    told: Callable[[list[float]], None],
) -> list[float]:
    """Play until the test has a verdict or `most` deal-sets; return the margins."""
    margins: list[float] = []
    terms = comparison.terms

    async def goes_on(_: float) -> bool:
        if margins:
            told(margins)
        said = _verdict(comparison, margins, same_within)
        return said.decision is Decision.OPEN and len(margins) < most

    async def main(arena: Arena) -> None:
        async with trio.open_nursery() as launched:
            players = Players(arena, data, data / "bots" / "compare", launched, sandbox=sandbox)
            for each in commands:
                players.add(each)
            await players.require(order_of(comparison.deal_set(1), terms).bots)
            work = ComparisonWork(comparison, margins, most, goes_on)
            await play_comparison(work, comparison, arena, players)
            await players.send_home()
            launched.cancel_scope.cancel()

    try:
        with plain_errors():
            serve(sandboxed(data, sandbox, limits_load=True), Tokens(), main)
    except KeyboardInterrupt:
        pass  # the margins so far are a valid result
    except UnfinishedComparison as error:
        raise click.ClickException(f"{error}; its log says why") from None
    return margins


def _so_far(said: Verdict) -> str:
    return (
        f"{said.deal_sets} deal-sets, {said.mean:+.2f} points, E = {said.e_value:.2g} (20 decides)"
    )
