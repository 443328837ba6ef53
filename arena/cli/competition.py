"""`arena competition`: tournaments of every format and ladders, made from a TOML and run by hand."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from arena.cli import competition_table as show_table
from arena.cli.arguments import log_to
from arena.cli.desk import Desk, LocalDesk, desk_options, told_plainly
from arena.cli.jail import jailed, walled
from arena.cli.lobby import patiently
from arena.cli.playing import playing_command
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.competition.plan_file import CompetitionPlan, Kind, read_plan
from arena.competition.reckoning import Span, TooFewBots, reckon
from arena.competition.states import Action, State
from arena.competition.suspicion import suspected
from arena.server.competitions.alone import play_alone
from arena.server.competitions.hall import TROUBLES
from arena.server.data_folder import is_running
from arena.server.office import table_csv

MATCH_S: Final = 5.0
"""Length of a match that `--check` reckons with, unless it is told."""

LOOK_S: Final = 1.0


@click.group(
    epilog="""\b
Examples:
  arena competition new autumn.toml --check
  arena competition new autumn.toml
  arena competition start autumn
  arena competition show autumn --watch
  arena competition collusion autumn
  arena competition export autumn --as deals > autumn.jsonl
  arena table autumn
"""
)
def competition() -> None:
    """Make competitions from a TOML, and run them."""


@competition.command(
    epilog="""\b
Examples:
  arena competition new autumn.toml --check
  arena competition new autumn.toml --check --match-seconds 2 --cores 16
  arena competition new autumn.toml --bot ann="python ann.py" --bot bob=./bob
"""
)
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option("--check", is_flag=True, help="Only say what it comes to; nothing is made.")
@click.option(
    "--bot",
    "bots",
    multiple=True,
    metavar="NAME=COMMAND",
    help="A bot that is launched, beside those of the file.",
)
@click.option(
    "--entrants", type=click.IntRange(0), help="With --check: how many bots.  [default: the file's]"
)
@click.option(
    "--match-seconds",
    default=MATCH_S,
    show_default=True,
    type=click.FloatRange(0.001),
    help="With --check: how long a match takes.",
)
@click.option(
    "--cores", type=click.IntRange(1), help="With --check: cores to play on.  [default: all]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@desk_options
def new(
    *,
    desk: Desk,
    file: Any,
    check: bool,
    bots: tuple[str, ...],
    entrants: int | None,
    match_seconds: float,
    cores: int | None,
    as_json: bool,
) -> None:
    """Make a competition of the TOML in FILE, as a draft.

    Whatever is wrong with the file is told at once; an unknown key is an error.
    """
    text = _with_bots(file.read(), bots)
    with told_plainly():
        plan = read_plan(text)
    told = _reckoned(plan, entrants, cores, match_seconds)
    if not check:
        desk.create(text)
    if as_json:
        click.echo(json.dumps({"competition": plan.name, "made": not check, **told}, indent=2))
        return
    say(_comes_to(plan, told))
    if not check:
        say(f"{plan.name} is made. Begin with: arena competition start {plan.name}")


def _with_bots(text: str, bots: tuple[str, ...]) -> str:
    """The plan with the bots of the command line in its own `[bots]`."""
    lines = []
    for each in bots:
        name, equals, command = each.partition("=")
        if not equals or not name.strip() or not command.strip():
            raise click.BadParameter(f"a bot is NAME=COMMAND, not {each!r}")
        lines.append(f"{json.dumps(name.strip())} = {json.dumps(command.strip())}")
    if not lines:
        return text
    head, found, rest = text.partition("[bots]")
    return f"{head.rstrip()}\n\n[bots]\n" + "\n".join(lines) + (rest if found else "\n")


def _reckoned(
    plan: CompetitionPlan, entrants: int | None, cores: int | None, match_s: float
) -> dict[str, Any]:
    bots = len(plan.bots) if entrants is None else entrants
    cores = cores or os.cpu_count() or 1
    # A bot must not be slower for its neighbours; where cores are few, a match still has its own.
    cores = max(cores, *(game.terms.seats for game in plan.games))
    try:
        found = reckon(plan, bots=bots, cores=cores, match_s=match_s)
    except TooFewBots as error:
        return {"bots": bots, "why_not": str(error)}
    return {
        "bots": bots,
        "cores": cores,
        "match_seconds": match_s,
        "deal_sets": _span(found.deal_sets),
        "matches": _span(found.matches),
        "hours": _span(found.hours),
        "core_hours": _span(found.core_hours),
    }


def _span(span: Span) -> list[float]:
    return [round(span.least, 3), round(span.most, 3)]


def _comes_to(plan: CompetitionPlan, told: dict[str, Any]) -> str:
    if "why_not" in told:
        return f"{plan.name}: nobody can tell yet what it comes to, as {told['why_not']}"
    each_hour = " an hour" if plan.kind is Kind.LADDER else ""
    parts = [
        f"{_said(told['matches'])} matches{each_hour}",
        *([] if each_hour else [f"{_said(told['hours'])} hours"]),
        f"{_said(told['core_hours'])} core-hours{each_hour}",
    ]
    return (
        f"{plan.name}: {told['bots']} bots; {', '.join(parts)}, on {told['cores']} cores at "
        f"{told['match_seconds']:g} s a match"
    )


def _said(span: list[float]) -> str:
    least, most = (f"{each:,.0f}" if each >= 10 else f"{each:.3g}" for each in span)
    return least if least == most else f"{least} to {most}"


def _control(name: str, does: str, **options: Any) -> Callable[..., Any]:
    """A command for an action that plays nothing itself."""

    @competition.command(
        name, epilog=f"\b\nExamples:\n  arena competition {name} autumn", **options
    )
    @click.argument("competition_name", metavar="NAME")
    @click.option(
        "--expected", type=click.Choice([str(each) for each in State]), help="Only if so."
    )
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @desk_options
    def command(*, desk: Desk, competition_name: str, expected: str | None, as_json: bool) -> None:
        state = desk.control(competition_name, Action(name), State(expected) if expected else None)
        _tell_state(desk, competition_name, state, as_json=as_json)

    command.help = does
    return command


def _tell_state(desk: Desk, name: str, state: State, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(desk.show(name), indent=2))
    else:
        say(f"{name} is {state}.")


_control("pause", "Begin nothing new; what is in play ends.")
_control("freeze", "Make an official table of what is complete by now; play goes on.")
_control("finish", "Play no more, and make the last table.")


@competition.command(
    epilog="""\b
Examples:
  arena competition start autumn
  arena competition start autumn --json > table.json

\b
Where an arena runs in the folder, that one plays it. Where none does, this command plays it
until it is finished; stopped by Ctrl-C or killed, it goes on when it is called again.
"""
)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@jailed
@desk_options
def start(
    *, desk: Desk, name: str, as_json: bool, demand: str, read_only: tuple[Path, ...]
) -> None:
    """Begin a competition, and play it if nobody else does."""
    _begin(desk, name, Action.START, demand, read_only, as_json=as_json)


@competition.command(epilog="\b\nExamples:\n  arena competition resume autumn")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@jailed
@desk_options
def resume(
    *, desk: Desk, name: str, as_json: bool, demand: str, read_only: tuple[Path, ...]
) -> None:
    """Go on with a competition that was paused."""
    _begin(desk, name, Action.RESUME, demand, read_only, as_json=as_json)


def _begin(
    desk: Desk,
    name: str,
    action: Action,
    demand: str,
    read_only: tuple[Path, ...],
    *,
    as_json: bool,
) -> None:
    state = State(desk.show(name)["state"])
    if state is not State.RUNNING:  # else it was stopped in the midst
        state = desk.control(name, action, None)
    if not isinstance(desk, LocalDesk) or is_running(desk.data):
        _tell_state(desk, name, state, as_json=as_json)
        return
    if desk.show(name)["kind"] == Kind.LADDER:
        raise click.ClickException(
            f"{name} is a ladder: it is played by `arena serve --data {desk.data}`"
        )
    log_to(desk.data)
    try:
        with (
            told_plainly(),
            walled(demand, desk.data, read_only, desk.commands(name)) as wall,
            _bars(desk, name, quiet=as_json) as told,
        ):
            command = playing_command(desk.data, demand=demand, read_only=read_only)
            play_alone(name, desk.data, command, wall=wall, told=told)
    except KeyboardInterrupt:
        text = f"stopped; `arena competition start {name}` goes on where it stood"
        raise click.ClickException(text) from None
    except TROUBLES as trouble:
        raise click.ClickException(str(trouble)) from None
    table = desk.table(name, None)
    if as_json:
        click.echo(json.dumps(table, indent=2))
        return
    if desk.show(name)["state"] == State.PAUSED:
        say(f"{name} was paused; `arena competition resume {name}` goes on")
    show_table.print_table(table, PlainConsole())


@contextlib.contextmanager
def _bars(desk: LocalDesk, name: str, *, quiet: bool) -> Iterator[Callable[[int, Any], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("matches of this round"),
    )
    plan = read_plan(desk.store.competitions().get(name).config)
    with RichProgress(*columns, console=PlainConsole(stderr=True, quiet=quiet)) as bars:
        tasks = [bars.add_task(each.terms.game.title, total=None) for each in plan.games]

        def told(game: int, progress: Any) -> None:
            bars.update(tasks[game], total=progress.matches, completed=progress.played)

        yield told


@competition.command(
    epilog="""\b
Examples:
  arena competition show
  arena competition show autumn
  arena competition show autumn --watch
  arena competition show autumn --json | jq .games
"""
)
@click.argument("name", required=False)
@click.option("--watch", is_flag=True, help="Look again every second until it is finished.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; a line for each look."
)
@desk_options
def show(*, desk: Desk, name: str | None, watch: bool, as_json: bool) -> None:
    """Show where the competition NAME stands; or list all of them."""
    if name is None:
        every = desk.every()
        if as_json:
            click.echo(json.dumps({"competitions": every}, indent=2))
        elif every:
            PlainConsole().print(_listed(every))
        else:
            say("There is no competition yet.")
        return
    if watch:
        _watch(desk, name, as_json=as_json)
        return
    found = desk.show(name)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        _print(found)


def _watch(desk: Desk, name: str, *, as_json: bool) -> None:
    """A line for each look, until it is finished or Ctrl-C; the arena may be away or busy meanwhile."""

    def look() -> dict[str, Any]:
        return patiently(
            lambda: desk.show(name),
            told=lambda error: say(f"{error.message}; looking again", err=True),
        )

    with contextlib.suppress(KeyboardInterrupt):
        before, began_s = look(), time.monotonic()
        found = before
        while True:
            lasted_s = time.monotonic() - began_s
            click.echo(json.dumps(found) if as_json else _line(found, before, lasted_s))
            if found["state"] == State.FINISHED:
                return
            time.sleep(LOOK_S)
            found = look()


def _line(found: dict[str, Any], before: dict[str, Any], seconds: float) -> str:
    """One look in a line: what is done, what is in play, how fast, and how long it takes."""
    done, left = (_sum(found, ("complete",)), _sum(found, ("waiting", "in_play")))
    rate = (done - _sum(before, ("complete",))) / seconds if seconds > LOOK_S else 0.0
    away = [each["bot"] for each in found["bots"] if each["away"]]
    parts = [
        str(found["state"]),
        f"{done} deal-sets played",
        f"{_sum(found, ('in_play',))} in play",
        f"{left} left of what is drawn",
    ]
    if rate:
        parts.append(f"{60 * rate:.1f} a minute")
        parts.append(f"{left / rate / 60:.1f} minutes for what is drawn")
    if away:
        parts.append(f"absent: {', '.join(away)}")
    return ", ".join(parts)


def _sum(found: dict[str, Any], states: tuple[str, ...]) -> int:
    return sum(game["deal_sets"][each] for game in found["games"] for each in states)


def _listed(every: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("competition", "kind", "format", "state", "bots", "tables"):
        table.add_column(name, no_wrap=True)
    for each in every:
        table.add_row(
            Text(each["competition"]),
            each["kind"],
            each["format"] or "",
            each["state"],
            str(each["entered"]),
            str(each["tables"]),
        )
    return table


def _print(found: dict[str, Any]) -> None:
    console = PlainConsole()
    format_ = f", {found['format']}" if found["format"] else ""
    say(f"{found['competition']}: {found['kind']}{format_}, {found['state']}")
    for game in found["games"]:
        sets = game["deal_sets"]
        parts = [f"{sets['complete']} deal-sets played"]
        parts += [
            f"{sets[each]} {words}"
            for each, words in (
                ("in_play", "in play"),
                ("waiting", "waiting"),
                ("given_up", "given up"),
                ("void", "not to be played"),
            )
            if sets[each]
        ]
        rounds = f", round {game['rounds']}" if game["rounds"] else ""
        say(f"{game['game']} of {game['seats']}{rounds}: {', '.join(parts)}")
    table = Table(box=None, pad_edge=False)
    for name in ("seed", "bot", "owner", "kind", ""):
        table.add_column(name, no_wrap=bool(name))
    for each in found["bots"]:
        why = " ".join(filter(None, (each["out"], each["reason"]))) or each["away"]
        owner = Text(each["owner"])
        table.add_row(str(each["seed"]), Text(each["bot"]), owner, each["kind"], Text(why))
    console.print(table)


@competition.command(
    epilog='\b\nExamples:\n  arena competition disqualify autumn my-bot --reason "two accounts"'
)
@click.argument("name")
@click.argument("bot")
@click.option("--reason", required=True, help="Why; everybody is told.")
@desk_options
def disqualify(*, desk: Desk, name: str, bot: str, reason: str) -> None:
    """Drop BOT and all its deal-sets from NAME; an official table is made anew."""
    desk.disqualify(name, bot, reason)
    say(f"{bot} is disqualified from {name}: {reason}")


@competition.command(epilog="\b\nExamples:\n  arena competition withdraw autumn my-bot")
@click.argument("name")
@click.argument("bot")
@desk_options
def withdraw(*, desk: Desk, name: str, bot: str) -> None:
    """Take BOT out of NAME; what it has played counts."""
    desk.withdraw(name, bot)
    say(f"{bot} has withdrawn from {name}.")


@competition.command(
    epilog="\b\nExamples:\n  arena competition enter autumn my-bot --server localhost:7654"
)
@click.argument("name")
@click.argument("bot")
@desk_options
def enter(*, desk: Desk, name: str, bot: str) -> None:
    """Have BOT take part in NAME: one that was submitted, or that dials in with a key."""
    desk.enter(name, bot)
    say(f"{bot} takes part in {name}.")


@competition.command(
    epilog="""\b
Examples:
  arena competition collusion autumn
  arena competition collusion autumn --json | jq '.games[].pairs[] | select(.stands)'
"""
)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@desk_options
def collusion(*, desk: Desk, name: str, as_json: bool) -> None:
    """Tell which owners' bots do better together than their skills say.

    For each two owners whose bots met at tables of three or more, a bet is made that they help each
    other. Where nobody does, it comes to 100 for one pair of a hundred at most. A pair stands if that
    also holds among all pairs. It proves nothing: it is for people to look into.
    """
    record = desk.record(name)
    with RichProgress(console=PlainConsole(stderr=True, quiet=as_json), transient=True) as bars:
        task = bars.add_task("pairs of owners", total=None)
        found = suspected(record, lambda done, of: bars.update(task, completed=done, total=of))
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for game in found["games"]:
        _print_suspected(game)


def _print_suspected(game: dict[str, Any]) -> None:
    head, pairs = f"{game['game']} of {game['seats']}", game["pairs"]
    if not pairs:
        say(f"{head}: {game['problem'] or 'no two owners can be looked at yet'}")
        return
    standing = sum(each["stands"] for each in pairs)
    say(f"{head}: {len(pairs)} pairs of owners, of which {standing or 'none'} stand out")
    table = Table(box=None, pad_edge=False)
    for column in ("owners", "", "deal-sets", "more than their skills say", "E", ""):
        table.add_column(column, no_wrap=True)
    for each in pairs:
        table.add_row(
            *(Text(owner) for owner in each["owners"]),
            str(each["deal_sets"]),
            f"{each['gain']:+.2f} points a table, each",
            f"{each['e_value']:.3g}",
            "look into it" if each["stands"] else "",
        )
    PlainConsole().print(table)


@competition.command(
    epilog="""\b
Examples:
  arena competition export autumn --as csv > autumn.csv
  arena competition export autumn --as deals > autumn.jsonl
  arena table verify autumn.jsonl
"""
)
@click.argument("name")
@click.option(
    "--as",
    "form",
    required=True,
    type=click.Choice(["csv", "json", "deals"]),
    help="The table's rows, all of the table, or each deal-set with the signed table.",
)
@click.option("--number", type=click.IntRange(1), help="Of the official table.")
@desk_options
def export(*, desk: Desk, name: str, form: str, number: int | None) -> None:
    """Write what NAME has come to."""
    if form == "deals":
        for line in desk.deals(name, number):
            click.echo(line)
        return
    table = desk.table(name, number)
    click.echo(
        json.dumps(table, indent=2) if form == "json" else table_csv(table), nl=form == "json"
    )
