"""`arena compare`: whether one bot is better than another, by a test that may be watched."""

import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
import trio

from arena.anytime.verdict import Decision, Verdict, verdict
from arena.cli.arguments import (
    GameType,
    bot_commands,
    data_option,
    game_options,
    log_to,
    match_terms,
    plain_errors,
    time_control_of,
    timed,
)
from arena.cli.jail import jailed, walled
from arena.cli.lobby import Server
from arena.cli.owning import owner_options
from arena.cli.questions import VERSION, answer_of
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.games.catalogue import Game
from arena.jail import BotCommand, Level, Wall
from arena.server.arena import Arena
from arena.server.competitions.comparison import Comparison, Unfinished, name_of, play
from arena.server.competitions.players import Players
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve
from arena.server.inquiries import verdict_json
from arena.terms import MatchTerms

DEFAULT_DEAL_SETS: Final = 400
FIELD: Final = "field"


@click.command(
    epilog="""\b
Examples:
  arena compare my_bot.py old_bot.py --game klaberjass
  arena compare new=./new old=./old --game soko --against ./rival --against ./other
  arena compare my_bot.py old_bot.py --game sixty_six --each-other --deal-sets 2000
  arena compare my_bot.py old_bot.py --game jam --same-within 0.5 --json
  arena compare my-bot@7 my-bot@6 --game klaberjass      # submitted ones: the arena plays them

\b
It may be watched and stopped at any time: in one of twenty comparisons between equals, at
most, it is ever wrong. The exit code is 0 if something was decided, 2 if not.
"""
)
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option("--game", required=True, type=GameType(), help="The game to compare them at.")
@click.option("--seats", type=int, help="Seats at a table.  [default: the fewest the game has]")
@click.option(
    "--against",
    multiple=True,
    default=(FIELD,),
    show_default=True,
    metavar="COMMAND",
    help="Opponents of both, at the same boards; `field` is the arena's own bots.",
)
@click.option("--each-other", is_flag=True, help="At one table, for two seats.")
@click.option(
    "--deal-sets",
    "most",
    default=DEFAULT_DEAL_SETS,
    show_default=True,
    type=click.IntRange(1),
    help="Give up after so many.",
)
@click.option(
    "--same-within",
    type=click.FloatRange(0, min_open=True),
    metavar="POINTS",
    help="Also stop once the difference is surely smaller.",
)
@click.option("--seed", help="Repeat the same deals and opponents; without it deals are fair.")
@game_options
@timed
@jailed
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
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
    options: tuple[str, ...],
    move: float,
    bank: float,
    increment: float,
    demand: str,
    read_only: tuple[Path, ...],
    as_json: bool,
    server: Server,
    data: Path,
) -> None:
    """Ask whether one bot is better than another, each given as a command, [NAME=]COMMAND.

    Both play the same seats of the same boards against the same opponents. Nothing of it is rated.

    Two versions that you have submitted, as my-bot@7 and my-bot@6, are compared by the arena, against the
    active bots of others. It counts how many questions you ask. Ctrl-C stops the question.
    """
    opponents = [each for each in against if each != FIELD]
    if each_other and opponents:
        raise click.UsageError("choose one of --each-other and --against")
    if VERSION.fullmatch(first) and VERSION.fullmatch(second):
        if opponents or seed is not None:
            raise click.UsageError(
                "an arena compares versions against its own field, and draws the deals: leave "
                "--against and --seed out"
            )
        control = time_control_of(move, bank, increment)
        with plain_errors():
            terms = match_terms(game, options, seats or game.seats[0], control, seeded=False)
        _of_versions(server, first, second, terms, each_other, most, same_within, as_json=as_json)
        return
    commands = bot_commands([first, second, *opponents])
    control = time_control_of(move, bank, increment)
    with plain_errors():
        terms = match_terms(game, options, seats or game.seats[0], control, seeded=seed is not None)
    comparison = _comparison(terms, commands, seed, each_other=each_other)
    log_to(data)
    console = PlainConsole(stderr=True, quiet=as_json, highlight=False)
    with (
        plain_errors(),
        walled(demand, data, read_only, commands) as wall,
        console.status("waiting for the bots") as status,
    ):
        margins = _margins(
            comparison,
            commands,
            data,
            wall,
            most,
            same_within,
            lambda margins: status.update(_so_far(_verdict(comparison, margins, same_within))),
        )
    said = _verdict(comparison, margins, same_within)
    if as_json:
        about = {"first": comparison.first, "second": comparison.second, "game": game.id}
        told = about | {"seats": terms.seats} | verdict_json(said) | {"limit": most}
        click.echo(json.dumps(told, indent=2))
    else:
        say(sentence(comparison.first, comparison.second, verdict_json(said)))
    if said.decision is Decision.OPEN:
        raise click.exceptions.Exit(2)


def _of_versions(
    server: Server,
    first: str,
    second: str,
    terms: MatchTerms,
    each_other: bool,
    most: int,
    same_within: float | None,
    *,
    as_json: bool,
) -> None:
    console = PlainConsole(stderr=True, quiet=as_json, highlight=False)
    with console.status("waiting for the arena") as status:
        said = answer_of(
            server,
            first,
            second,
            terms,
            each_other=each_other,
            most=most,
            same_within=same_within,
            told=lambda said: status.update(sentence(first, second, said)),
            sleep=time.sleep,
        )
    if as_json:
        about = {"first": first, "second": second, "game": terms.game.id, "seats": terms.seats}
        click.echo(json.dumps(about | said, indent=2))
    else:
        say(sentence(first, second, said))
        say(f"Question {said['questions']} of yours: {said['why']}{_among_all(said)}.")
    if said["decision"] == str(Decision.OPEN):
        raise click.exceptions.Exit(2)


def _among_all(said: dict[str, Any]) -> str:
    """Whether an answer stands beside the owner's other questions; nothing if there is none."""
    if said["decision"] == str(Decision.OPEN):
        return ""
    held = "also among all of them" if said["holds_among_all"] else "so far for this one alone"
    return f", and holds {held}"


def _comparison(
    terms: MatchTerms, commands: tuple[BotCommand, ...], seed: str | None, *, each_other: bool
) -> Comparison:
    first, second, *field = (each.name for each in commands)
    seed = seed or secrets.token_hex(8)
    name = name_of(seed, secrets.token_hex(8))  # another one each time, so that all is played
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
    wall: Wall | None,
    most: int,
    same_within: float | None,
    told: Callable[[list[float]], None],
) -> list[float]:
    """The margins until it is decided, or there are as many as may be."""
    margins: list[float] = []

    async def main(arena: Arena) -> None:
        async with trio.open_nursery() as launched:
            players = Players(arena, data, data / "bots" / "compare", launched, wall=wall)
            for each in commands:
                players.add(each)
            await players.require(comparison.order(1).bots)
            while len(margins) < most:
                widest = max((abs(each) for each in margins), default=0.0)
                number = len(margins) + 1
                margin, _ = await play(comparison, number, widest, arena, players)
                margins.append(margin)
                told(margins)
                if _verdict(comparison, margins, same_within).decision is not Decision.OPEN:
                    break
            await players.send_home()
            launched.cancel_scope.cancel()

    try:
        data.mkdir(parents=True, exist_ok=True)
        with plain_errors():
            level = Level.S0 if wall is None else wall.level
            settings = ServerSettings(
                data, play_socket=level is not Level.S0, jail=level, limits_load=True
            )
            serve(settings, Tokens(), main)
    except KeyboardInterrupt:
        pass  # what was found so far holds all the same
    except OSError as error:
        raise click.ClickException(f"cannot write in {data}: {error.strerror}") from None
    except Unfinished as error:
        raise click.ClickException(f"{error}; its log says why") from None
    return margins


def _so_far(said: Verdict) -> str:
    return (
        f"{said.deal_sets} deal-sets, {said.mean:+.2f} points, E = {said.e_value:.2g} (20 decides)"
    )


def sentence(first: str, second: str, said: dict[str, Any]) -> str:
    """What can be said, in a sentence or two."""
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


def _still(needed: dict[str, int | None] | None) -> str:
    if needed is None or needed["likely"] is None:
        return "; it may never be"
    fewest = f"{needed['fewest']:,}" if needed["fewest"] is not None else "?"
    most = f"{needed['most']:,}" if needed["most"] is not None else "without end"
    return f"; about {needed['likely']:,} more ({fewest} … {most})"
