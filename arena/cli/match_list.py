"""`arena match list`: the matches that have ended, with their results and replays."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table
from rich.text import Text

from arena.cli.lookup import meant
from arena.cli.options import (
    DEFAULT_DATA,
    GameType,
    data_option,
    json_option,
    plain_errors,
    print_json,
    require_folder,
)
from arena.cli.suggestions import nearest
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, program
from arena.games.game import Game
from arena.replay.phrases import count
from arena.replay.read import replay_path
from arena.schedule.deal_sets import ABORTED
from arena.server.data_folder import store_path
from arena.store import MatchFilter, NoCompetition, Store, StoredMatch, is_there, open_store

ENDINGS: Final = ("completed", "forfeit", ABORTED)
_UNBROKEN: Final = 10_000
"""Width of lines that are not written to a terminal, in characters."""


@click.command(
    "list",
    epilog="""\b
Examples:
  arena match list
  arena match list --bot my_bot --game klaberjass --faulted
  arena match list --competition autumn --ending forfeit --limit 500
  arena match list --published --json | jq -r '.matches[].replay'
""",
)
@click.option("--game", type=GameType(), help="Only this game.")
@click.option(
    "--bot", "bots", multiple=True, metavar="NAME", help="Only with this bot; repeatable."
)
@click.option("--competition", metavar="NAME", help="Only of this competition.")
@click.option("--ending", type=click.Choice(ENDINGS), help="Only with this ending.")
@click.option("--faulted", is_flag=True, help="Only with a fault of some bot.")
@click.option("--published", is_flag=True, help="Only with a published replay.")
@click.option("--limit", default=20, type=click.IntRange(1, 500), help="Matches shown.")
@json_option
@data_option
def list_matches(
    *,
    game: Game | None,
    bots: tuple[str, ...],
    competition: str | None,
    ending: str | None,
    faulted: bool,
    published: bool,
    limit: int,
    as_json: bool,
    data: Path,
) -> None:
    """List matches that have ended, newest first, and which of them have a replay.

    `arena replay show MATCH` shows a replay. Replays of a competition are published when their
    deal-set is complete.
    """
    require_folder(data)
    path = store_path(data)
    if not is_there(path):
        raise click.ClickException(f"no match was played in the folder {data} yet")
    wanted = MatchFilter(
        game.id if game else "", bots, competition or "", ending or "", faulted, published
    )
    with plain_errors(), open_store(path) as store:
        # One more than is shown tells whether there are more.
        found = store.matches().find(_with_stored_names(wanted, store), limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({"matches": [_as_json(each, data) for each in shown], "more": more})
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
        words = f"Watch one: {program()} replay show MATCH{folder}"
        console.print(words, markup=False, soft_wrap=True, highlight=False)


def _with_stored_names(wanted: MatchFilter, store: Store) -> MatchFilter:
    """The filter with the names that the store has.

    Raises:
      click.ClickException: if there is no such competition or bot.
    """
    names = [each.name for each in store.competitions().all()]
    if wanted.competition and wanted.competition not in names:
        error = NoCompetition(wanted.competition)
        raise click.ClickException(f"{error}; {nearest(error.name, names)}")
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
    of_competitions = any(each.competition for each in found)
    for name in ("ended (UTC)", "match", "game"):
        table.add_column(name, no_wrap=True)
    optional = ["competition"] if of_competitions else []
    for name in ("bots and scores", "ending", "replay", *optional):
        table.add_column(name, overflow="fold")
    for each in found:
        outcome = each.outcome
        faults = sum(sum(kinds.values()) for kinds in outcome.faults)
        ending = outcome.ending + (f", {count(faults, 'fault')}" if faults else "")
        ended = f"{_ended(each):%Y-%m-%d %H:%M:%S}" if each.ended_unix_ms else ""
        replay = "yes" if each.published else "no"
        cells = [ended, outcome.match_id, each.game, _bots_and_scores(each), ending, replay]
        if of_competitions:
            cells.append(each.competition)
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
        "competition": match.competition or None,
        "deal_set": match.deal_set or None,
        "ended": _ended(match).isoformat() if match.ended_unix_ms else None,
        "replay": str(replay) if replay else None,
    }
