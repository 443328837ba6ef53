"""`arena matches`: the matches that were played, with their results and replays."""

import functools
import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from rich.table import Table
from rich.text import Text

from arena.cli.arguments import DEFAULT_DATA, GameType, data_option, plain_errors
from arena.cli.named import meant, require_folder
from arena.cli.near import nearest
from arena.cli.options import with_options
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain
from arena.games.catalogue import Game
from arena.ladder.results import ABORTED
from arena.replay.read import replay_path
from arena.replay.words import count
from arena.server.data_folder import store_path
from arena.store import MatchFilter, Store, StoredMatch, is_there, open_store

F = TypeVar("F", bound=Callable[..., Any])
ENDINGS: Final = ("completed", "forfeit", ABORTED)
_UNBROKEN: Final = 10_000
"""Characters of a line where it is not a terminal that they have to fit in."""


def match_filters(command: F) -> F:
    """Adds the options that say which matches are wanted; the command gets one `wanted`."""

    @functools.wraps(command)
    def with_filter(
        *,
        game: Game | None,
        bots: tuple[str, ...],
        tournament: str,
        ending: str | None,
        faulted: bool,
        **rest: Any,
    ) -> Any:
        wanted = MatchFilter(game.id if game else "", bots, tournament, ending or "", faulted)
        return command(wanted=wanted, **rest)

    return with_options(  # type: ignore[return-value]
        with_filter,
        click.option("--game", type=GameType(), help="Only this game."),
        click.option(
            "--bot", "bots", multiple=True, metavar="NAME", help="Only with this bot; repeatable."
        ),
        click.option("--tournament", default="", metavar="NAME", help="Only of this tournament."),
        click.option("--ending", type=click.Choice(ENDINGS), help="Only those that ended so."),
        click.option("--faulted", is_flag=True, help="Only those in which some bot was at fault."),
        click.option(
            "--limit",
            default=20,
            show_default=True,
            type=click.IntRange(1, 500),
            help="Matches shown.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        data_option,
    )


@click.command(
    epilog="""\b
Examples:
  arena matches
  arena matches --bot my_bot --game klaberjass --faulted
  arena matches --tournament autumn --ending forfeit --limit 500
  arena matches --json | jq -r '.matches[] | select(.scores[0] < 0) | .replay'
"""
)
@match_filters
def matches(*, wanted: MatchFilter, limit: int, as_json: bool, data: Path) -> None:
    """List matches that have ended, newest first: made by hand, and of tournaments."""
    list_matches(wanted, limit=limit, as_json=as_json, data=data)


def list_matches(wanted: MatchFilter, *, limit: int, as_json: bool, data: Path) -> None:
    """Print the matches that are wanted.

    Raises:
      click.ClickException: if there are none to choose from, or no such bot or tournament.
    """
    require_folder(data)
    path = store_path(data)
    if not is_there(path):
        raise click.ClickException(f"no match was played in the folder {data} yet")
    with plain_errors(), open_store(path) as store:
        asked = _as_they_are_named(wanted, store)
        # One more than is shown tells whether there are more.
        found = store.matches().find(asked, limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    if as_json:
        told = {"matches": [_as_json(each, data) for each in shown], "more": more}
        click.echo(json.dumps(told, indent=2))
        return
    if not shown:
        click.echo("No match has ended yet." if wanted == MatchFilter() else "No match fits.")
        return
    console = PlainConsole()
    if not console.is_terminal:
        console.width = _UNBROKEN  # one match a line, for grep
    console.print(_table(shown))
    if more:
        click.echo(f"There are more; --limit shows up to 500, and {limit} are shown.")
    if any(each.published for each in shown):
        folder = "" if data == DEFAULT_DATA else f" --data {shlex.quote(str(data))}"
        words = f"Watch one: arena replay show MATCH{folder}"
        console.print(words, markup=False, soft_wrap=True, highlight=False)


def _as_they_are_named(wanted: MatchFilter, store: Store) -> MatchFilter:
    """What is wanted, with names as the store has them."""
    names = [each.name for each in store.tournaments()]
    if wanted.tournament and wanted.tournament not in names:
        raise click.ClickException(
            f"there is no tournament {wanted.tournament!r}; {nearest(wanted.tournament, names)}"
        )
    known = store.matches().bots() if wanted.bots else ()
    bots = []
    for bot in wanted.bots:
        found = meant(bot, known)
        if len(found) > 1:
            raise click.ClickException(f"{bot!r} may be {' or '.join(found)}: give the name")
        if not found:
            raise click.ClickException(f"no bot named {bot!r} has played; {nearest(bot, known)}")
        bots += found
    return replace(wanted, bots=tuple(bots))


def _table(found: Sequence[StoredMatch]) -> Table:
    table = Table(box=None, pad_edge=False)
    of_tournaments = any(each.tournament for each in found)
    for name in ("ended (UTC)", "match", "game"):
        table.add_column(name, no_wrap=True)
    for name in ("bots and scores", "ending", *(["tournament"] if of_tournaments else [])):
        table.add_column(name, overflow="fold")
    for each in found:
        outcome = each.outcome
        faults = sum(sum(kinds.values()) for kinds in outcome.faults)
        ending = outcome.ending + (f", {count(faults, 'fault')}" if faults else "")
        ended = f"{_ended(each):%Y-%m-%d %H:%M:%S}" if each.ended_unix_ms else ""
        cells = [ended, outcome.match_id, each.game, _bots_and_scores(each), ending]
        if of_tournaments:
            cells.append(each.tournament)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    return table


def _bots_and_scores(match: StoredMatch) -> str:
    scores = match.outcome.scores
    if not scores:
        return ", ".join(match.bots)
    return ", ".join(f"{bot} {score:+g}" for bot, score in zip(match.bots, scores, strict=True))


def _ended(match: StoredMatch) -> datetime:
    return datetime.fromtimestamp(match.ended_unix_ms / 1000, UTC)


def _as_json(match: StoredMatch, data: Path) -> dict[str, Any]:
    outcome = match.outcome
    replay = replay_path(data / "replays", outcome.match_id) if match.published else None
    return {
        "match": outcome.match_id,
        "game": match.game,
        "bots": list(match.bots),
        "ending": outcome.ending,
        "scores": list(outcome.scores),
        "places": list(outcome.places),
        "faults": [dict(kinds) for kinds in outcome.faults],
        "hands": outcome.hands,
        "decisions": outcome.decisions,
        "evidence": outcome.evidence,
        "tournament": match.tournament or None,
        "deal_set": match.deal_set or None,
        "ended": _ended(match).isoformat() if match.ended_unix_ms else None,
        "replay": str(replay) if replay else None,
    }
