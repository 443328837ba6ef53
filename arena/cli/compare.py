"""`arena compare`: an anytime test of whether one bot is better than another."""

from pathlib import Path
from typing import Final

import click

from arena.app.author_matches import comparison_of, new_record
from arena.cli.arena_client import Server, owner_options
from arena.cli.comparison_place import ComparisonPlace, place_options, so_far, waiting_for_bots
from arena.cli.comparisons import VERSION, answer_of, details, is_decided, of_yours, sentence
from arena.cli.options import (
    ChosenTerms,
    GameType,
    bot_commands,
    data_option,
    json_option,
    print_json,
    require_no_faults,
    start_option,
    strict_option,
    terms_options,
    time_odds_option,
    with_time_odds,
)
from arena.cli.terminal.console import progress
from arena.cli.terminal.plain import say
from arena.errors import exits
from arena.games.game import Game
from arena.referee.wire.message_json import message_json
from arena.referee.wire.terms import terms_message
from cardarena.v1 import comparisons_pb2

DEFAULT_DEAL_SETS: Final = 400
FIELD: Final = "field"


@click.command(
    epilog="""\b
Examples:
  arena compare my_bot.py old_bot.py --game klaberjass
  arena compare new=./new old=./old --game soko --against ./rival --against ./other
  arena compare my_bot.py old_bot.py --game sixty_six --each-other --deal-sets 2000
  arena compare my_bot.py old_bot.py --game jam --same-within 0.5 --json
  arena compare my_bot.py old_bot.py --game klaberjass --in-process
  arena compare my_bot.py old_bot.py --game klaberjass --on dask:tls://10.0.0.5:8786
  arena compare my-bot@7 my-bot@6 --game klaberjass      # submitted versions

\b
You may watch the result and stop at any time: at most one comparison of equal bots in
twenty ends with a wrong decision. The exit code is 0 with a decision, and 4 without; with
--strict it is 5 if a bot had a fault.
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
@click.option(
    "--each-other",
    is_flag=True,
    help="Let them sit at one table; the arena's own bots fill further seats.",
)
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
@start_option
@click.option("--seed", help="Repeats deals and opponents; without it the deals are fair.")
@terms_options
@time_odds_option
@place_options
@strict_option
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
    start_s: int | None,
    seed: str | None,
    chosen: ChosenTerms,
    odds: tuple[str, ...],
    place: ComparisonPlace,
    strict: bool,
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
    opponents = [command for command in against if command != FIELD]
    if each_other and opponents:
        raise click.UsageError("choose one of --each-other and --against")
    by_arena = VERSION.fullmatch(first) and VERSION.fullmatch(second)
    if by_arena and (opponents or seed is not None):
        raise click.UsageError(
            "an arena compares versions against its own field, and draws the deals: leave "
            "--against and --seed out"
        )
    if odds and (by_arena or place.way):
        raise click.UsageError(
            "all bots have the same clock where an arena compares versions, and none where they are played "
            "without one: leave --time-odds out"
        )
    if by_arena and (place.way or strict):
        raise click.UsageError(
            "an arena plays submitted versions in its sandbox, and `arena match list` has their "
            f"faults: leave {place.way or '--strict'} out"
        )
    commands = () if by_arena else bot_commands([first, second, *opponents], start_s)
    terms = chosen.of(game, seats, seeded=bool(place.way) or seed is not None, shortest=True)
    terms = with_time_odds(terms, odds, [command.name for command in commands])
    record = new_record()
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
            result = answer_of(server, request, lambda so_far: tell(sentence(so_far)))
    else:
        try:
            comparison = comparison_of(terms, commands, seed, each_other=each_other)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        with place.open(data, commands) as play, waiting_for_bots(quiet=as_json) as tell:
            result = play(
                comparison,
                commands,
                most=most,
                record=record,
                same_within=same_within,
                on_verdict=lambda verdict: tell(so_far(verdict)),
            )
    if as_json:
        print_json({"game": game.id, "seats": terms.seats} | message_json(result))
    else:
        say(sentence(result))
        if more := details(result):
            say(more)
        if by_arena:
            say(of_yours(result))
    require_no_faults(record.faults, strict=strict)
    if not is_decided(result):
        raise click.exceptions.Exit(exits.UNDECIDED)
