"""`arena competition`: tournaments of every format and ladders, from TOML files."""

import contextlib
import functools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

import click
from rich.progress import Progress

from arena.cli.arena_client import patiently
from arena.cli.command_group import CommandGroup
from arena.cli.competition_client import (
    CompetitionClient,
    LocalCompetitions,
    competition_options,
)
from arena.cli.competition_play import play_here, print_result, summary
from arena.cli.options import json_option, print_json, wide_option
from arena.cli.sandbox_options import SandboxChoice, sandbox_options
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import program, say
from arena.cli.terminal.standings import WIDE, print_head_to_head, print_standings
from arena.competition.collusion_report import suspected, without_shared
from arena.competition.estimate import Span, TooFewBots, estimate
from arena.competition.plan import CompetitionKind, CompetitionPlan, read_plan
from arena.competition.plan_text import FINALS
from arena.competition.record import CompetitionRecord
from arena.competition.standings import RANKED_BY, RankingRule, live_standings
from arena.competition.states import MAKES_STANDINGS, Action, State
from arena.server.data_folder import is_running
from arena.server.official_standings import NotVerified, pairs_csv, prizes_csv, verify
from arena.server.official_standings import prizes as prizes_of

MATCH_S: Final = 5.0
"""Default length of a match that `--check` assumes."""
POLL_S: Final = 1.0
SHOWN_DIGITS: Final = 16
"""Digits of a public key that are printed."""

read_options = functools.partial(competition_options, must_exist=True)
"""Adds the options of commands that create no folder."""


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
        finals = _finals_of(client, found)
        done = _OF_LADDER if finals and action in MAKES_STANDINGS else _DONE
        say(done[action].format(name=name, finals=finals[-1:], **found))


def _finals_of(client: CompetitionClient, found: dict[str, Any]) -> list[str]:
    """The finals of a ladder so far, which make its official standings; none of other competitions."""
    if found["kind"] != CompetitionKind.LADDER:
        return []
    start = f"{found['competition']}{FINALS}"
    return [each["competition"] for each in client.every() if each["competition"].startswith(start)]


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
    "list",
    epilog="\b\nExamples:\n  arena competition list\n  arena competition list --json",
)
@json_option
@read_options
def list_competitions(*, client: CompetitionClient, as_json: bool) -> None:
    """List all competitions."""
    every = client.every()
    if as_json:
        print_json({"competitions": every})
        return
    if not every:
        say("There is no competition yet.")
        return
    fields = ("competition", "kind", "format", "state", "entered", "official")
    rows = [["" if each[field] is None else each[field] for field in fields] for each in every]
    print_table(("competition", "kind", "format", "state", "bots", "official"), rows)


@competition.command(
    epilog="""\b
Examples:
  arena competition show autumn
  arena competition show autumn --pairs
  arena competition show autumn --wide | less -S
  arena competition show autumn --csv > autumn.csv
  arena competition show autumn --number 2 --json | jq .standings
  arena competition show autumn --follow
"""
)
@click.argument("name")
@click.option(
    "--number",
    type=click.IntRange(1),
    help="These official standings.  [default: the latest state]",
)
@click.option("--pairs", is_flag=True, help="Also the results of each pair of bots.")
@click.option("--head-to-head", is_flag=True, help="Only wins, draws and losses of each pair.")
@click.option("--csv", "as_csv", is_flag=True, help="Only standings, as comma-separated values.")
@wide_option
@click.option(
    "--follow", is_flag=True, help="Print the state every second until the competition is finished."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; with --follow a line a poll."
)
@read_options
def show(
    *,
    client: CompetitionClient,
    name: str,
    number: int | None,
    pairs: bool,
    head_to_head: bool,
    as_csv: bool,
    wide: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Show the state, the standings and the entrants of the competition NAME.

    Standings are live while the competition is played, and official when it is finished. Places and
    skills in live standings are provisional. Nothing is played, and no bot is launched.
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    if follow:
        _follow(client, name, as_json=as_json)
        return
    found = client.standings(name, number)
    if as_json:
        print_json(client.show(name) | {"standings": found})
    elif as_csv and (pairs or head_to_head):
        click.echo(pairs_csv(found), nl=False)
    elif as_csv:
        print_result(found, as_csv=True)
    elif head_to_head:
        for game in found["games"]:
            print_head_to_head(game, PlainConsole(width=WIDE if wide else None))
    else:
        state = client.show(name)
        _print_progress(state)
        for finals in _finals_of(client, state):
            say(f"{finals} makes official standings of {name}.")
        print_standings(found, pairs=pairs, wide=wide)
        _print_entrants(state)


def _follow(client: CompetitionClient, name: str, *, as_json: bool) -> None:
    """Print a line for each poll until the competition is finished; the arena may be busy or restart."""

    def poll() -> dict[str, Any]:
        return patiently(
            lambda: client.show(name),
            told=lambda error: say(f"{error.message}; trying again", err=True),
        )

    with contextlib.suppress(KeyboardInterrupt):
        before, began_s = poll(), time.monotonic()
        found = before
        while True:
            lasted_s = time.monotonic() - began_s
            click.echo(json.dumps(found) if as_json else _line(found, before, lasted_s))
            if found["state"] == State.FINISHED:
                return
            time.sleep(POLL_S)
            found = poll()


def _line(found: dict[str, Any], before: dict[str, Any], seconds: float) -> str:
    """One poll in a line: deal-sets played and in play, their rate, and the time for the rest."""
    done, left = (_sum(found, ("complete",)), _sum(found, ("waiting", "in_play")))
    rate = (done - _sum(before, ("complete",))) / seconds if seconds > POLL_S else 0.0
    away = [each["bot"] for each in found["bots"] if each["away"]]
    parts = [
        "; ".join(filter(None, (str(found["state"]), found["waits"]))),
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


def _print_progress(found: dict[str, Any]) -> None:
    format_ = f", {found['format']}" if found["format"] else ""
    waits = f"; {found['waits']}" if found["waits"] else ""
    say(f"{found['competition']}: {found['kind']}{format_}, {found['state']}{waits}")
    if found["announcement"]:
        say(f"Announced {found['announced']}: {found['announcement']}")
    if found["timetable"]:
        say(f"Played {found['timetable']}.")
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


def _print_entrants(found: dict[str, Any]) -> None:
    rows = []
    for each in found["bots"]:
        why = " ".join(filter(None, (each["out"], each["reason"]))) or each["away"]
        games = [", ".join(each["games"]) or "as declared"] if len(found["games"]) > 1 else []
        rows.append((each["seed"], each["bot"], each["owner"], each["kind"], *games, why))
    games = ["games"] if len(found["games"]) > 1 else []
    print_table(("seed", "bot", "owner", "kind", *games, ""), rows, wrapped=("games", ""))


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


@competition.command(
    epilog="""\b
Examples:
  arena competition collusion autumn
  arena competition collusion autumn --without ann --without bob
  arena competition collusion autumn --json | jq '.games[].pairs[] | select(.stands)'
"""
)
@click.argument("name")
@click.option(
    "--without",
    multiple=True,
    metavar="OWNER",
    help="Show the standings without the tables of OWNER instead; of two owners, without those that they shared.",
)
@json_option
@read_options
def collusion(
    *, client: CompetitionClient, name: str, without: tuple[str, ...], as_json: bool
) -> None:
    """List pairs of owners whose bots score otherwise at shared tables than their skills explain.

    For each pair of owners whose bots met there are two approximate e-values: of what they gain together
    at the cost of others, at tables of three or more seats, and of what one gains from the other. A pair
    stands out if one of them exceeds the threshold for all pairs together. That is a reason to watch the
    replays, not a proof: people judge.
    """
    record = client.record(name)
    if without:
        _print_without(record, without, as_json=as_json)
        return
    with Progress(console=PlainConsole(stderr=True, quiet=as_json), transient=True) as bars:
        task = bars.add_task("pairs of owners", total=None)
        found = suspected(record, lambda done, of: bars.update(task, completed=done, total=of))
    if as_json:
        print_json(found)
        return
    for game in found["games"]:
        _print_suspected(game)


def _print_without(record: CompetitionRecord, without: tuple[str, ...], *, as_json: bool) -> None:
    owners = sorted({each.owner for each in record.candidates})
    for owner in without:
        if owner not in owners:
            raise click.BadParameter(f"no bot of {owner!r} entered; owners are {', '.join(owners)}")
    if RANKED_BY[read_plan(record.config).format] is not RankingRule.SKILL:
        raise click.ClickException("its places do not follow skill, so no table can be left out")
    found = live_standings(without_shared(record, without))
    if as_json:
        print_json(found)
    else:
        print_standings(found)


def _print_suspected(game: dict[str, Any]) -> None:
    head, pairs = f"{game['game']} of {game['seats']}", game["pairs"]
    if not pairs:
        say(f"{head}: no two owners can be looked at yet")
        return
    standing = sum(each["stands"] for each in pairs)
    say(
        f"{head}: {len(pairs)} pairs of owners, of which {standing or 'none'} stand out (approximate)"
    )
    rows = [
        (
            *each["owners"],
            each["deal_sets"],
            _shown_evidence(each["joint"]),
            _shown_evidence(each["difference"]),
            "look into it" if each["stands"] else "",
        )
        for each in pairs
    ]
    heads = ("owners", "", "deal-sets", "each gains, points a table", "first gains from second", "")
    print_table(heads, rows)
    for each in (moved for pair in pairs for moved in pair["places"]):
        left = each["without"]
        say(
            f"{each['bot']} is in place {each['place']}, and without the shared tables "
            f"{f'in place {left}' if left else 'not ranked'}."
        )


def _shown_evidence(found: dict[str, Any] | None) -> str:
    return "" if found is None else f"{found['points']:+.2f}, E = {found['e_value']:.3g}"


@competition.command(
    epilog="""\b
Examples:
  arena competition export autumn --as csv > autumn.csv
  arena competition export autumn --as deals > autumn.jsonl
  arena competition verify autumn.jsonl
  arena competition export autumn --as csv --prizes > prizes.csv
"""
)
@click.argument("name")
@click.option(
    "--as",
    "form",
    required=True,
    type=click.Choice(["csv", "json", "deals"]),
    help="Rows of the standings, the whole standings, or all deal-sets with the signed standings.",
)
@click.option(
    "--number",
    type=click.IntRange(1),
    help="These official standings.  [default: the latest state]",
)
@click.option(
    "--prizes",
    is_flag=True,
    help="Only the order of prizes, by places and tie-breaks; for official standings.",
)
@read_options
def export(
    *, client: CompetitionClient, name: str, form: str, number: int | None, prizes: bool
) -> None:
    """Write the standings of NAME, or the deal-sets from which they were computed.

    With --prizes each bot that is ranked has a row: its prize, its place, and the bots that it is
    tied with after all tie-breaks. Standings that are not official have no prizes.
    """
    if prizes:
        _export_prizes(client, name, form, number)
    elif form == "deals":
        for line in client.deals(name, number):
            click.echo(line)
    else:
        found = client.standings(name, number)
        print_result(found, as_json=form == "json", as_csv=form == "csv")


def _export_prizes(client: CompetitionClient, name: str, form: str, number: int | None) -> None:
    if form == "deals":
        raise click.UsageError("prizes are csv or json")
    state = client.show(name)
    if not state["official"]:
        raise click.ClickException(
            f"{name} has no official standings yet: `arena competition finish {name}` makes them"
        )
    standings = client.standings(name, number or state["official"])
    found = prizes_of(standings, {each["bot"]: each["owner"] for each in state["bots"]})
    if form == "json":
        print_json({"competition": name, "number": standings["number"], "prizes": found})
    else:
        click.echo(prizes_csv(found), nl=False)


@competition.command(
    "verify",
    epilog="""\b
Examples:
  arena competition export autumn --as deals > autumn.jsonl
  arena competition verify autumn.jsonl
  arena competition verify autumn.jsonl --arena $(arena keys arena-key)
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--arena", metavar="KEY", help="Require a signature with this public key.")
@json_option
def verify_file(*, file: Path, arena: str | None, as_json: bool) -> None:
    """Compute the standings in FILE again from its deal-sets, and check the signature.

    FILE was written by `arena competition export --as deals`. The exit code is 0 if the standings are
    equal to the byte.
    """
    try:
        key = bytes.fromhex(arena) if arena else None
    except ValueError:
        raise click.BadParameter("a public key is 64 hexadecimal digits") from None
    try:
        with file.open(encoding="utf-8") as lines:
            found = verify(lines, public_key=key)
    except UnicodeDecodeError:
        raise click.ClickException(f"{file}: it is not text in UTF-8") from None
    except NotVerified as error:
        raise click.ClickException(f"{file}: {error}") from None
    if as_json:
        about = {
            "competition": found.competition,
            "number": found.number,
            "deal_sets": found.deal_sets,
            "public_key": found.public_key,
            "verified": True,
        }
        print_json(about)
        return
    say(
        f"{file}: standings {found.number} of {found.competition} follow from its "
        f"{found.deal_sets} deal-sets, signed by the arena {found.public_key[:SHOWN_DIGITS]}"
    )
