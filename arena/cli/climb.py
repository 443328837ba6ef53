"""`arena climb`: the highest rung that a bot beats on a ladder of frozen bots."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from arena.app.climbing import ComparedRung, is_beaten, rungs_of
from arena.app.climbing import climb as climbed
from arena.cli.arena_client import Server, owner_options
from arena.cli.comparison_place import ComparisonPlace, place_options, so_far, waiting_for_bots
from arena.cli.comparisons import VERSION, decision_word, requested
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
)
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import Interrupted, program, say
from arena.games.game import Game
from arena.referee.terms import MatchTerms
from arena.referee.wire.message_json import message_json
from arena.referee.wire.terms import terms_message
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.web.badge import badge_svg
from cardarena.v1 import comparisons_pb2
from cardarena.v1.comparisons_pb2 import Comparison

DEFAULT_DEAL_SETS: Final = 400
MOST_CHALLENGE_DEAL_SETS: Final = 64
"""The maximal number of deal-sets of a challenge at an arena."""


@click.command(
    epilog="""\b
Examples:
  arena climb my_bot.py --game sixty_six
  arena climb ./my-bot --game loo --deal-sets 2000 --on processes
  arena climb my_bot.py --game klaberjass --in-process --json | jq -r .rung
  arena climb my-bot@7 --game loo                       # a submitted version, at an arena

\b
The same command goes on where it was stopped or killed, and with a larger --deal-sets; a
changed bot begins anew. Champions of past competitions are rungs above the house bot's
levels: copy each into DATA/champions/GAME, as a folder with bot.toml or a Python file.
"""
)
@click.argument("bot", metavar="BOT")
@click.option("--game", required=True, type=GameType(), help="The game of the ladder.")
@click.option("--seats", type=int, help="Seats at a table.  [default: the fewest of the game]")
@click.option(
    "--deal-sets",
    "most",
    default=DEFAULT_DEAL_SETS,
    type=click.IntRange(1),
    help="Deal-sets against a rung after which it counts as not beaten; up to four times as many "
    "while the forecast says that the bot beats it.",
)
@start_option
@click.option("--seed", help="Repeats deals and seating; without it the deals are fair.")
@terms_options
@place_options
@click.option(
    "--badge",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="Write a picture of the rung, for the README of the bot.",
)
@strict_option
@json_option
@owner_options
@data_option
def climb(
    *,
    bot: str,
    game: Game,
    seats: int | None,
    most: int,
    start_s: int | None,
    seed: str | None,
    chosen: ChosenTerms,
    place: ComparisonPlace,
    badge: Path | None,
    strict: bool,
    as_json: bool,
    server: Server,
    data: Path,
) -> None:
    """Play BOT, a command, upward on a ladder of frozen bots until it does not beat a rung.

    The rungs are random moves, first moves, the levels of the house bot, and archived champions. A
    rung is beaten when the test of `arena compare` decides that BOT is better. At two seats they play
    each other; at more, both play against the house bot's level `sample` on the same boards.

    A submitted version, such as my-bot@7, climbs at an arena by challenges of its house bots, of at most 64 deal-sets
    each; the same command on the same day (UTC) continues the climb.
    """
    if VERSION.fullmatch(bot):
        if place.way or strict or seed is not None or start_s is not None:
            raise click.UsageError(
                "an arena plays submitted versions in its sandbox and draws the deals: give --game, --seats, "
                "--deal-sets and options of the game alone"
            )
        terms = chosen.of(game, seats, seeded=False, shortest=True)
        results = _challenged(server, bot, terms, most, quiet=as_json)
        look = [f"{program()} match list --bot {bot.partition('@')[0]}"]
        _report(results, [*HOUSE_BOTS], terms, look, badge, as_json=as_json)
        return
    texts = rungs_of(game, data)
    mine, *bots = commands = bot_commands([bot, *texts.values()], start_s)
    rungs = dict(zip(texts, bots, strict=True))
    terms = chosen.of(game, seats, seeded=bool(place.way) or seed is not None, shortest=True)
    reached: list[ComparedRung] = []
    with place.open(data, commands) as play, waiting_for_bots(quiet=as_json) as tell:
        compared = climbed(
            mine,
            rungs,
            terms,
            data,
            play,
            most=most,
            seed=seed,
            on_verdict=lambda name, verdict: tell(f"{name}: {so_far(verdict)}"),
        )
        try:
            reached += compared
        except KeyboardInterrupt:
            raise Interrupted("stopped; run the same command to continue") from None
    last = reached[-1]
    look = _to_look_at(last, terms, bot, texts[last.name], data, is_published=not place.way)
    results = {rung.name: rung.result for rung in reached}
    _report(results, [*rungs], terms, look, badge, as_json=as_json)
    faults = Counter({mine.name: sum(rung.faults.get(mine.name, 0) for rung in reached)})
    require_no_faults(faults, strict=strict)


def _challenged(
    server: Server, bot: str, terms: MatchTerms, most: int, *, quiet: bool
) -> dict[str, Comparison]:
    """Challenge the house bots of an arena, the weakest first, until one is not beaten; return the results."""
    results = {}
    for name in HOUSE_BOTS:
        request = comparisons_pb2.CreateComparisonRequest(
            first=bot,
            second=name,
            terms=terms_message(terms),
            max_deal_sets=min(most, MOST_CHALLENGE_DEAL_SETS),
            challenge=True,
        )
        results[name] = requested(server, request, follow=True, quiet=quiet)
        if not is_beaten(results[name]):
            break
    return results


def _report(
    results: dict[str, Comparison],
    rungs: list[str],
    terms: MatchTerms,
    look: list[str],
    badge: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the results by rung, and write the badge."""
    game, beaten = terms.game, [name for name, result in results.items() if is_beaten(result)]
    if badge is not None:
        words = f"rung {len(beaten)} of {len(rungs)}" + (f", above {beaten[-1]}" if beaten else "")
        try:
            badge.write_text(badge_svg(game.title, words), "utf-8")
        except OSError as error:
            raise click.ClickException(f"cannot write {badge}: {error.strerror}") from error
    if as_json:
        rows = [{"name": name} | message_json(result) for name, result in results.items()]
        bot = next(iter(results.values())).first
        named: dict[str, Any] = {"game": game.id, "seats": terms.seats, "bot": bot}
        rung = beaten[-1] if beaten else None
        print_json(named | {"rung": rung, "ladder": rungs, "rungs": rows, "look_at": look})
    else:
        print_climb(results, rungs, game, look)


def print_climb(
    results: Mapping[str, Comparison], rungs: Sequence[str], game: Game, look: Sequence[str]
) -> None:
    """Print the results by rung, and the commands `look` that show why the last one was not beaten."""
    *_, (name_of_last, last) = results.items()
    rows: list[tuple[object, ...]] = []
    for number, name in enumerate(rungs, 1):
        if (result := results.get(name)) is None:
            rows.append((number, name, "", "", "", ""))
            continue
        has_interval = result.HasField("low") and result.HasField("high")
        interval = f"{result.low:+.2f} … {result.high:+.2f}" if has_interval else ""
        word = "beaten" if is_beaten(result) else "not beaten"
        rows.append((number, name, word, f"{result.mean:+.2f}", interval, result.deal_sets))
    print_table(
        ("rung", "bot", "", "points", "anytime 95 %", "deal-sets"),
        rows,
        numbers=("rung", "points", "deal-sets"),
        title=f"{game.title}, {last.first}",
    )
    count = sum(map(is_beaten, results.values()))
    say(f"{last.first} is on rung {count} of {len(rungs)}.")
    if is_beaten(last):
        say("It has beaten every rung.")
        return
    undecided = f"It is {decision_word(last.decision)} against {name_of_last}"
    if not look:
        say(f"{undecided}, and lost no deal-set to it.")
        return
    say(f"{undecided}. What to look at:")
    for line in look:
        say(f"  {line}")


def _to_look_at(
    last: ComparedRung, terms: MatchTerms, bot: str, rung: str, data: Path, *, is_published: bool
) -> list[str]:
    """Return the commands that show the deal-set in which the bot lost most against the rung that it did not beat."""
    if last.is_beaten or last.worst is None:
        return []
    deal_set, climber = last.comparison.deal_set(last.worst), last.comparison.first
    table = next(match for match in deal_set.matches if climber in match.bots)
    folder = f"--data {shlex.quote(str(data))}"
    if is_published:
        return [f"{program()} match why {table.id} {climber} {folder}"]
    words = {climber: f"{climber}={bot}", last.bot.name: f"{last.bot.name}={rung}"}
    bots = " ".join(shlex.quote(words.get(name, "house:sample")) for name in table.bots)
    usual = terms.game.values(terms.game.options({}, terms.seats))
    values = {n: v for n, v in terms.game.values(terms.options).items() if v != usual[n]}
    options = "".join(f" -o {name}={str(value).lower()}" for name, value in values.items())
    seeded = f"{program()} play {terms.game.id} {bots}{options} --seed {deal_set.seed} {folder}"
    return [seeded, f"{program()} match why last {climber} {folder}"]
