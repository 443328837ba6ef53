"""`arena competition`: tournaments of every format and ladders, from TOML files."""

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from arena.cli.arena_client import NoAnswer
from arena.cli.command_group import CommandGroup
from arena.cli.competition_client import CompetitionClient, competition_options, read_options
from arena.cli.competition_collusion import collusion
from arena.cli.competition_export import export, verify_file
from arena.cli.competition_overall import overall
from arena.cli.competition_play import play_here, print_result, print_summary
from arena.cli.competition_show import finals_of, list_competitions, show
from arena.cli.competition_workers import drop_worker, spot_checks
from arena.cli.options import json_option, print_json, read_text
from arena.cli.sandbox_options import SandboxChoice, competition_sandbox_options
from arena.cli.terminal.plain import program, say
from arena.referee.wire.enums import enum_number, word_of
from arena.referee.wire.message_json import message_json
from cardarena.v1 import competitions_pb2 as messages

STATES: Final = ("draft", "running", "paused", "finished")


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
@click.argument("files", nargs=-1, required=True, type=click.File("rb"))
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
    type=click.FloatRange(0.001),
    help="With --check: length of a match.  [default: 5]",
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
    match_seconds: float | None,
    cores: int | None,
    as_json: bool,
) -> None:
    """Create a draft of a competition from each TOML file in FILES.

    All errors of a file are printed at once. An unknown key is an error. Nothing is created if a file has an error.
    """
    texts, estimates = [_with_bots(read_text(file), bots) for file in files], []
    for file, text in zip(files, texts, strict=True):
        request = messages.EstimateCompetitionRequest(
            config=text, entrants=entrants, cores=cores or 0, match_s=match_seconds or 0
        )
        try:
            estimates.append(client.call("EstimateCompetition", request))
        except NoAnswer as error:
            if error.reason != "BAD_PLAN":
                raise
            raise click.ClickException(f"{file.name}: {error.message}") from None
    for text, estimated in zip(texts, estimates, strict=True):
        if not check:
            client.call("CreateCompetition", messages.CreateCompetitionRequest(config=text))
        if as_json:
            print_json(message_json(estimated))
            continue
        say(_estimate_text(estimated))
        for warning in estimated.warnings:
            say(f"warning: {warning}", err=True)
        if check and len(estimated.games) > 1:
            say(_games_text(estimated))
        if not check:
            name = estimated.name
            start_it = f"{program()} competition start {name}{client.option}"
            say(f"{name} is created. Start it with: {start_it}")


def _with_bots(text: str, bots: tuple[str, ...]) -> str:
    """Return the plan with the bots of the command line added to its `[bots]`."""
    lines = []
    for bot in bots:
        name, equals, command = bot.partition("=")
        if not equals or not name.strip() or not command.strip():
            raise click.BadParameter(f"a bot is NAME=COMMAND, not {bot!r}")
        lines.append(f"{json.dumps(name.strip())} = {json.dumps(command.strip())}")
    if not lines:
        return text
    head, section, rest = text.partition("[bots]")
    return f"{head.rstrip()}\n\n[bots]\n" + "\n".join(lines) + (rest if section else "\n")


def _estimate_text(estimated: messages.EstimateCompetitionResponse) -> str:
    if estimated.why_not:
        return f"{estimated.name}: no estimate is possible yet, as {estimated.why_not}"
    is_ladder = estimated.format == messages.COMPETITION_FORMAT_LADDER
    each_hour = " an hour" if is_ladder else ""
    parts = [
        f"{_said(estimated.matches)} matches{each_hour}",
        *([] if is_ladder else [_time_text(estimated.hours, "")]),
        f"{_time_text(estimated.core_hours, 'core-')}{each_hour}",
    ]
    return (
        f"{estimated.name}: {estimated.bots} bots; {', '.join(parts)}, on {estimated.cores} cores at "
        f"{estimated.match_s:g} s a match"
        + (f"; {estimated.timetable}" if estimated.timetable else "")
    )


def _games_text(estimated: messages.EstimateCompetitionResponse) -> str:
    """Return which bots enter which of several games, and which bots the standings of all games rank."""
    undeclared = set(estimated.undeclared)
    lines = [
        f"{game.game}: {', '.join(bot for bot in game.bots if bot not in undeclared) or 'no bot yet'}"
        for game in estimated.games
    ]
    if undeclared:
        lines.append(
            f"each game that they declare when they connect: {', '.join(estimated.undeclared)} "
            '(or write NAME = { command = "…", games = ["…"] })'
        )
    every = [bot for bot in estimated.in_every_game if bot not in undeclared]
    lines.append(
        f"All games ranks the bots that enter every game (so far {', '.join(every) or 'none'}), if there "
        "are two or more. Other bots have empty cells there."
    )
    return "\n".join(lines)


def _time_text(hours: messages.Span, of: str) -> str:
    """Return a time in hours, or in minutes if it is below two hours."""
    if hours.most >= 2:
        return f"{_said(hours)} {of}hours"
    minutes = messages.Span(least=60 * hours.least, most=60 * hours.most)
    text = _said(minutes)
    return f"{text} {of}minute{'' if text == '1' else 's'}"


def _said(span: messages.Span) -> str:
    least, most = (
        f"{bound:,.0f}" if bound >= 10 else f"{bound:.2g}" for bound in (span.least, span.most)
    )
    return least if least == most else f"{least} to {most}"


def _control(name: str, text: str) -> None:
    """Add a command for an action that plays nothing itself."""

    @competition.command(
        name, help=text, epilog=f"\b\nExamples:\n  arena competition {name} autumn"
    )
    @click.argument("competition_name", metavar="NAME")
    @click.option("--expected", type=click.Choice(STATES), help="Fail in another state.")
    @json_option
    @competition_options
    def command(
        *, client: CompetitionClient, competition_name: str, expected: str | None, as_json: bool
    ) -> None:
        action = enum_number(messages.CompetitionAction, name)
        request = messages.ControlCompetitionRequest(
            name=competition_name,
            action=action,
            expected_state=enum_number(messages.CompetitionState, expected or ""),
        )
        client.call("ControlCompetition", request)
        _print_state(client, competition_name, action, as_json=as_json)


def _print_state(
    client: CompetitionClient,
    name: str,
    action: messages.CompetitionAction.ValueType,
    *,
    as_json: bool,
) -> None:
    shown = client.show(name)
    if as_json:
        print_json(message_json(shown))
        return
    finals = finals_of(client, shown)
    done = _OF_LADDER if finals and action in _OF_LADDER else _DONE
    state = word_of(shown, "state")
    say(done[action].format(name=name, finals=finals[-1:], state=state, official=shown.official))


_DONE: Final = {
    messages.COMPETITION_ACTION_START: "{name} is {state}.",
    messages.COMPETITION_ACTION_RESUME: "{name} is {state}.",
    messages.COMPETITION_ACTION_PAUSE: "{name} is paused: deal-sets in play finish, and no new ones begin.",
    messages.COMPETITION_ACTION_FREEZE: "{name} has official standings {official}; it is still {state}.",
    messages.COMPETITION_ACTION_FINISH: "{name} is finished, with official standings {official}.",
}
"""The sentence after each action."""

_OF_LADDER: Final = {
    messages.COMPETITION_ACTION_FREEZE: "{finals[0]} is begun and makes official standings of {name}, which is still {state}.",
    messages.COMPETITION_ACTION_FINISH: "{name} is finished. {finals[0]} is begun and makes its official standings.",
}
"""The sentence about a ladder that has finals."""


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
@competition_sandbox_options
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
        messages.COMPETITION_ACTION_START,
        confinement,
        as_json=as_json,
        at_a_time=at_a_time,
        take_all=take_all,
    )


@competition.command(epilog="\b\nExamples:\n  arena competition resume autumn")
@click.argument("name")
@json_option
@competition_sandbox_options
@competition_options
def resume(
    *, client: CompetitionClient, name: str, as_json: bool, confinement: SandboxChoice
) -> None:
    """Continue a paused competition."""
    _begin(client, (name,), messages.COMPETITION_ACTION_RESUME, confinement, as_json=as_json)


def _is_played(data: Path) -> bool:
    from arena.app.local_channel import runs_in  # already loaded if the client is that of a folder

    return runs_in(data)


def _begin(
    client: CompetitionClient,
    names: tuple[str, ...],
    action: messages.CompetitionAction.ValueType,
    confinement: SandboxChoice,
    *,
    as_json: bool,
    at_a_time: int = 1,
    take_all: bool = False,
) -> None:
    """Take an action on competitions, and play them unless an arena does."""
    for name in names:
        state = client.show(name).state
        # a competition that was stopped during play is running
        if state != messages.COMPETITION_STATE_RUNNING:
            # An error may have paused competitions that were started before.
            was_paused = state == messages.COMPETITION_STATE_PAUSED
            client.control(name, messages.COMPETITION_ACTION_RESUME if was_paused else action)
    if client.data is None or _is_played(client.data):
        for name in names:
            _print_state(client, name, action, as_json=as_json)
        return
    ladders = [
        name for name in names if client.show(name).format == messages.COMPETITION_FORMAT_LADDER
    ]
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
    standings = [client.standings(name) for name in names]
    if len(standings) > 1 and not as_json:
        print_summary(standings)
        return
    for name, result in zip(names, standings, strict=True):
        if client.show(name).state == messages.COMPETITION_STATE_PAUSED and not as_json:
            say(f"{name} was paused; `arena competition resume {name}` continues it")
        print_result(result, as_json=as_json)


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
    request = messages.DisqualifyBotRequest(name=name, bot=bot, reason=reason)
    client.call("DisqualifyBot", request)
    shown = client.show(name)
    say(f"{bot} is disqualified from {name}, and its deal-sets do not count: {reason}")
    if shown.official:
        say(f"Official standings {shown.official} are made without it.")


@competition.command(
    epilog='\b\nExamples:\n  arena competition reinstate autumn my-bot --reason "a mistake"'
)
@click.argument("name")
@click.argument("bot")
@click.option("--reason", required=True, help="The reason, which the arena's records keep.")
@competition_options
def reinstate(*, client: CompetitionClient, name: str, bot: str, reason: str) -> None:
    """Revoke the disqualification of BOT from NAME, and make new official standings.

    Its deal-sets count again, and those that were not played are played. If a round was drawn without BOT, it
    cannot come back.
    """
    client.call("ReinstateBot", messages.ReinstateBotRequest(name=name, bot=bot, reason=reason))
    shown = client.show(name)
    say(f"{bot} takes part in {name} again, and its deal-sets count: {reason}")
    if shown.official:
        say(f"Official standings {shown.official} are made with it.")


@competition.command(epilog="\b\nExamples:\n  arena competition delete autumn")
@click.argument("name")
@read_options
def delete(*, client: CompetitionClient, name: str) -> None:
    """Delete the draft NAME. A competition that has begun cannot be deleted, but finished."""
    client.call("DeleteCompetition", messages.DeleteCompetitionRequest(name=name))
    say(f"{name} is deleted.")


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
    """Show a text to all readers of NAME, on its page and in `show`; `-` reads it from standard input."""
    given = sys.stdin.read() if text == "-" else text
    client.call("Announce", messages.AnnounceRequest(name=name, text=given))
    say(f"{name} has an announcement." if given.strip() else f"{name} has no announcement.")


@competition.command(epilog="\b\nExamples:\n  arena competition withdraw autumn my-bot")
@click.argument("name")
@click.argument("bot")
@competition_options
def withdraw(*, client: CompetitionClient, name: str, bot: str) -> None:
    """Withdraw BOT from NAME; its results count."""
    client.call("WithdrawBot", messages.WithdrawBotRequest(name=name, bot=bot))
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
    games = client.call("EnterBot", messages.EnterBotRequest(name=name, bot=bot)).games
    if as_json:
        print_json({"competition": name, "bot": bot, "games": list(games)})
    elif games:
        say(f"{bot} takes part in {name}: {', '.join(games)}.")
    else:
        say(f"{bot} takes part in {name}, in each game that it declares when it connects.")


for command in (
    list_competitions,
    show,
    overall,
    collusion,
    spot_checks,
    drop_worker,
    export,
    verify_file,
):
    competition.add_command(command)
