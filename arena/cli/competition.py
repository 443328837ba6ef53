"""`arena competition`: tournaments of every format and ladders, from TOML files."""

import json
import os
import sys
from typing import Any, Final

import click

from arena.cli.command_group import CommandGroup
from arena.cli.competition_client import (
    CompetitionClient,
    LocalCompetitions,
    competition_options,
)
from arena.cli.competition_collusion import collusion
from arena.cli.competition_export import export, verify_file
from arena.cli.competition_play import play_here, print_result, summary
from arena.cli.competition_show import finals_of, list_competitions, show
from arena.cli.competition_workers import drop_worker, spot_checks
from arena.cli.options import json_option, print_json
from arena.cli.sandbox_options import SandboxChoice, sandbox_options
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import program, say
from arena.competition.estimate import Span, TooFewBots, estimate
from arena.competition.plan import CompetitionKind, CompetitionPlan, read_plan
from arena.competition.states import MAKES_STANDINGS, Action, State
from arena.server.data_folder import is_running

MATCH_S: Final = 5.0
"""Default length of a match that `--check` assumes."""


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena competition new autumn.toml --check
  arena competition new autumn.toml
  arena competition start autumn
  arena competition show autumn
  arena competition export autumn --as deals > autumn.jsonl
  arena competition verify autumn.jsonl
""",
)
def competition() -> None:
    """Create competitions from TOML files, play them, and show their standings."""


@competition.command(
    epilog="""\b
Examples:
  arena competition new autumn.toml --check
  arena competition new autumn.toml --check --match-seconds 2 --cores 16
  arena competition new autumn.toml --bot ann="python ann.py" --bot bob=./bob
  arena competition new autumn.toml winter.toml
"""
)
@click.argument("files", nargs=-1, required=True, type=click.File("r", encoding="utf-8"))
@click.option("--check", is_flag=True, help="Only estimate matches and hours; create nothing.")
@click.option(
    "--bot",
    "bots",
    multiple=True,
    metavar="NAME=COMMAND",
    help="A launched bot besides those of the file; repeatable.",
)
@click.option(
    "--entrants",
    type=click.IntRange(0),
    help="With --check: number of bots.  [default: the file's]",
)
@click.option(
    "--match-seconds",
    default=MATCH_S,
    type=click.FloatRange(0.001),
    help="With --check: length of a match.",
)
@click.option(
    "--cores", type=click.IntRange(1), help="With --check: number of cores.  [default: all]"
)
@json_option
@competition_options
def new(
    *,
    client: CompetitionClient,
    files: tuple[Any, ...],
    check: bool,
    bots: tuple[str, ...],
    entrants: int | None,
    match_seconds: float,
    cores: int | None,
    as_json: bool,
) -> None:
    """Create a draft of a competition from each TOML file in FILES.

    All errors of a file are printed at once. An unknown key is an error.
    """
    for file in files:
        text = _with_bots(file.read(), bots)
        plan = read_plan(text)
        estimated = _estimate(plan, entrants, cores, match_seconds)
        if not check:
            client.create(text)
        if as_json:
            about = {"competition": plan.name, "made": not check, **estimated}
            print_json(about)
            continue
        say(_estimate_text(plan, estimated))
        if check and len(plan.games) > 1:
            say(_games_text(plan, estimated))
        if not check:
            say(f"{plan.name} is created. Start it with: {program()} competition start {plan.name}")


def _with_bots(text: str, bots: tuple[str, ...]) -> str:
    """The plan with the bots of the command line added to its `[bots]`."""
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


def _estimate(
    plan: CompetitionPlan, entrants: int | None, cores: int | None, match_s: float
) -> dict[str, Any]:
    cores = cores or os.cpu_count() or 1
    # On few cores a match still needs one for each seat.
    cores = max(cores, *(game.terms.seats for game in plan.games))
    enter = {
        game.name: [
            name for name, bot in plan.bots.items() if game.game in (bot.games or [game.game])
        ]
        for game in plan.games
    }
    about = {
        "bots": len(plan.bots) if entrants is None else entrants,
        "games": enter,
        "undeclared": [name for name, bot in plan.bots.items() if not bot.games],
        "in_every_game": sorted(set.intersection(*map(set, enter.values()))),
    }
    bots = [len(each) if entrants is None else entrants for each in enter.values()]
    try:
        found = estimate(plan, bots=bots, cores=cores, match_s=match_s)
    except TooFewBots as error:
        return about | {"why_not": str(error)}
    return about | {
        "cores": cores,
        "match_seconds": match_s,
        "deal_sets": _span(found.deal_sets),
        "matches": _span(found.matches),
        "hours": _span(found.hours),
        "core_hours": _span(found.core_hours),
    }


def _span(span: Span) -> list[float]:
    return [round(span.least, 3), round(span.most, 3)]


def _estimate_text(plan: CompetitionPlan, estimated: dict[str, Any]) -> str:
    if "why_not" in estimated:
        return f"{plan.name}: no estimate is possible yet, as {estimated['why_not']}"
    each_hour = " an hour" if plan.kind is CompetitionKind.LADDER else ""
    parts = [
        f"{_said(estimated['matches'])} matches{each_hour}",
        *([] if each_hour else [f"{_said(estimated['hours'])} hours"]),
        f"{_said(estimated['core_hours'])} core-hours{each_hour}",
    ]
    return (
        f"{plan.name}: {estimated['bots']} bots; {', '.join(parts)}, on {estimated['cores']} cores at "
        f"{estimated['match_seconds']:g} s a match"
        + (f"; {plan.timetable}" if plan.timetable else "")
    )


def _games_text(plan: CompetitionPlan, estimated: dict[str, Any]) -> str:
    """Which bots enter which of several games, and whom the standings of all games rank."""
    lines = [
        f"{game}: {', '.join(each for each in bots if plan.bots[each].games) or 'no bot yet'}"
        for game, bots in estimated["games"].items()
    ]
    if estimated["undeclared"]:
        lines.append(
            f"each game that they declare when they connect: {', '.join(estimated['undeclared'])} "
            '(or write NAME = { command = "…", games = ["…"] })'
        )
    every = [each for each in estimated["in_every_game"] if plan.bots[each].games]
    lines.append(
        f"All games ranks the bots that enter every game (so far {', '.join(every) or 'none'}), if there "
        "are two or more. Other bots have empty cells there."
    )
    return "\n".join(lines)


def _said(span: list[float]) -> str:
    least, most = (f"{each:,.0f}" if each >= 10 else f"{each:.3g}" for each in span)
    return least if least == most else f"{least} to {most}"


def _control(name: str, text: str) -> None:
    """Add a command for an action that plays nothing itself."""

    @competition.command(
        name, help=text, epilog=f"\b\nExamples:\n  arena competition {name} autumn"
    )
    @click.argument("competition_name", metavar="NAME")
    @click.option(
        "--expected",
        type=click.Choice([str(each) for each in State]),
        help="Fail in another state.",
    )
    @json_option
    @competition_options
    def command(
        *, client: CompetitionClient, competition_name: str, expected: str | None, as_json: bool
    ) -> None:
        expected_state = State(expected) if expected else None
        client.control(competition_name, Action(name), expected_state)
        _print_state(client, competition_name, Action(name), as_json=as_json)


def _print_state(client: CompetitionClient, name: str, action: Action, *, as_json: bool) -> None:
    """Print what an action has changed."""
    found = client.show(name)
    if as_json:
        print_json(found)
    else:
        finals = finals_of(client, found)
        done = _OF_LADDER if finals and action in MAKES_STANDINGS else _DONE
        say(done[action].format(name=name, finals=finals[-1:], **found))


_DONE: Final = {
    Action.START: "{name} is {state}.",
    Action.RESUME: "{name} is {state}.",
    Action.PAUSE: "{name} is paused: deal-sets in play finish, and no new ones begin.",
    Action.FREEZE: "{name} has official standings {official}; it is still {state}.",
    Action.FINISH: "{name} is finished, with official standings {official}.",
}
"""What is said after each action."""

_OF_LADDER: Final = {
    Action.FREEZE: "{finals[0]} is begun and makes official standings of {name}, which is still {state}.",
    Action.FINISH: "{name} is finished. {finals[0]} is begun and makes its official standings.",
}
"""What is said of a ladder that has finals."""


@competition.command(
    epilog="""\b
Examples:
  arena competition start autumn
  arena competition start autumn --json > standings.json
  arena competition start autumn winter --at-a-time 2

\b
If an arena runs in the folder, it plays the competition. Otherwise this command plays
it until it is finished. If the command is stopped or killed, call it again to continue.
"""
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each competition.")
@click.option(
    "--at-a-time",
    default=1,
    type=click.IntRange(1),
    help="Number of competitions played at a time.",
)
@click.option(
    "--take-all",
    is_flag=True,
    help="Begin matches also while the machine is late or its disk full.",
)
@sandbox_options
@competition_options
def start(
    *,
    client: CompetitionClient,
    names: tuple[str, ...],
    as_json: bool,
    at_a_time: int,
    take_all: bool,
    confinement: SandboxChoice,
) -> None:
    """Start competitions, and play them unless an arena does."""
    _begin(
        client,
        names,
        Action.START,
        confinement,
        as_json=as_json,
        at_a_time=at_a_time,
        take_all=take_all,
    )


@competition.command(epilog="\b\nExamples:\n  arena competition resume autumn")
@click.argument("name")
@json_option
@sandbox_options
@competition_options
def resume(
    *, client: CompetitionClient, name: str, as_json: bool, confinement: SandboxChoice
) -> None:
    """Continue a paused competition."""
    _begin(client, (name,), Action.RESUME, confinement, as_json=as_json)


def _begin(
    client: CompetitionClient,
    names: tuple[str, ...],
    action: Action,
    confinement: SandboxChoice,
    *,
    as_json: bool,
    at_a_time: int = 1,
    take_all: bool = False,
) -> None:
    """Take an action on competitions, and play them unless an arena does."""
    for name in names:
        state = State(client.show(name)["state"])
        if state is not State.RUNNING:  # it is running already if it was stopped while played
            client.control(name, action, None)
    if not isinstance(client, LocalCompetitions) or is_running(client.data):
        for name in names:
            _print_state(client, name, action, as_json=as_json)
        return
    ladders = [n for n in names if client.show(n)["kind"] == CompetitionKind.LADDER]
    if ladders:
        raise click.ClickException(
            f"{ladders[0]} is a ladder: it is played by `arena serve --data {client.data}`"
        )
    again = f"`arena competition start {' '.join(names)}` continues it"
    play_here(
        client,
        names,
        confinement,
        again=again,
        quiet=as_json,
        at_a_time=at_a_time,
        take_all=take_all,
    )
    found = [client.standings(name) for name in names]
    if len(found) > 1 and not as_json:
        PlainConsole().print(summary(found))
        return
    for name, each in zip(names, found, strict=True):
        if client.show(name)["state"] == State.PAUSED and not as_json:
            say(f"{name} was paused; `arena competition resume {name}` continues it")
        print_result(each, as_json=as_json)


_control("pause", "Begin no new deal-sets; those in play finish.")
_control("freeze", "Make official standings, or begin the finals of a ladder; play continues.")
_control(
    "finish", "End play, and make the last official standings, or begin the finals of a ladder."
)


@competition.command(
    epilog='\b\nExamples:\n  arena competition disqualify autumn my-bot --reason "two accounts"'
)
@click.argument("name")
@click.argument("bot")
@click.option("--reason", required=True, help="The reason, which is public.")
@competition_options
def disqualify(*, client: CompetitionClient, name: str, bot: str, reason: str) -> None:
    """Remove BOT and its deal-sets from NAME, and make new official standings."""
    client.disqualify(name, bot, reason)
    found = client.show(name)
    say(f"{bot} is disqualified from {name}, and its deal-sets do not count: {reason}")
    if found["official"]:
        say(f"Official standings {found['official']} are made without it.")


@competition.command(
    epilog="""\b
Examples:
  arena competition announce autumn "Round 3 begins on Friday at 18:00."
  arena competition announce autumn - < news.txt
  arena competition announce autumn ""       # removes it
"""
)
@click.argument("name")
@click.argument("text")
@competition_options
def announce(*, client: CompetitionClient, name: str, text: str) -> None:
    """Tell all readers of NAME a text, on its page and in `show`; `-` reads it from standard input."""
    given = sys.stdin.read() if text == "-" else text
    client.announce(name, given)
    say(f"{name} has an announcement." if given.strip() else f"{name} has no announcement.")


@competition.command(epilog="\b\nExamples:\n  arena competition withdraw autumn my-bot")
@click.argument("name")
@click.argument("bot")
@competition_options
def withdraw(*, client: CompetitionClient, name: str, bot: str) -> None:
    """Withdraw BOT from NAME; its results count."""
    client.withdraw(name, bot)
    say(f"{bot} has withdrawn from {name}.")


@competition.command(
    epilog="""\b
Examples:
  arena competition enter autumn my-bot --server localhost:7654
  arena competition enter autumn my-bot --json | jq .games
"""
)
@click.argument("name")
@click.argument("bot")
@json_option
@competition_options
def enter(*, client: CompetitionClient, name: str, bot: str, as_json: bool) -> None:
    """Enter BOT, which was submitted or has a key, in NAME.

    BOT enters the games of NAME that it declares, with their seats: in its bot.toml if it was
    submitted, and otherwise when it connects.
    """
    games = client.enter(name, bot)
    if as_json:
        print_json({"competition": name, "bot": bot, "games": list(games)})
    elif games:
        say(f"{bot} takes part in {name}: {', '.join(games)}.")
    else:
        say(f"{bot} takes part in {name}, in each game that it declares when it connects.")


for each in (list_competitions, show, collusion, spot_checks, drop_worker, export, verify_file):
    competition.add_command(each)
