"""`arena play`: one match between bots given as commands, on this machine."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from arena.app.author_matches import SeriesEvents, SeriesGame, play_series
from arena.cli import series
from arena.cli.options import (
    ChosenTerms,
    GameType,
    bot_commands,
    data_option,
    log_to,
    plain_errors,
    print_json,
    require_no_faults,
    start_option,
    strict_option,
    terms_options,
)
from arena.cli.sandbox_options import SandboxChoice, level_of, sandbox_options
from arena.cli.series import Exceptions, SeriesRecord
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import Interrupted, program, say
from arena.cli.terminal.watcher import TerminalWatcher
from arena.errors import exits
from arena.games.game import Game
from arena.records.phrases import BY_FALLBACK, ENDED_BY_LIMIT, because, deed
from arena.records.phrases import count as count_of
from arena.records.read import replay_path
from arena.referee.spec import Ending, FaultKind, Outcome
from arena.referee.terms import MAX_TIME_MS, MatchTerms, TimeControl
from arena.sandbox.sandbox import SandboxDemand

_SHOWN: Final = 5
"""The maximal number of kinds of faults of a match that are listed."""


@click.command(
    epilog="""\b
Examples:
  arena play abstrac sample_bots/abstrac.py sample_bots/random_bot.py
  arena play democracy me=./my_bot "python3 sample_bots/random_bot.py" -o hands=4
  arena play sixty_six bot.py house:search-20ms              # the arena's own bot
  arena play abstrac bot.py bot.py --watch
  arena play abstrac bot.py bot.py --seed 7 --json
  arena play abstrac bot.py sample_bots/abstrac.py --games 20
  arena play abstrac bot.py sample_bots/abstrac.py --debug   # with breakpoint() in bot.py

\b
Exit codes:
  0  the match was played     2  wrong arguments
  1  it could not be played   3  it was played, and a bot's code raised an exception
                              5  with --strict: it was played, and a bot had a fault
"""
)
@click.argument("game", type=GameType())
@click.argument("bots", nargs=-1, required=True, metavar="[NAME=]COMMAND...")
@terms_options
@click.option("--seed", help="Repeats the deals; without it they are new.")
@click.option("--watch", is_flag=True, help="Draw the match while it is played, for a spectator.")
@click.option(
    "--games",
    "count",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Play N matches one after the other, with rotated seats, and print their mean.",
)
@click.option(
    "--debug",
    is_flag=True,
    help="Give the first bot this terminal for breakpoint(), and a day for each move.",
)
@start_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@sandbox_options
@data_option
def play(
    *,
    game: Game,
    bots: tuple[str, ...],
    chosen: ChosenTerms,
    seed: str | None,
    watch: bool,
    count: int,
    debug: bool,
    start_s: int | None,
    strict: bool,
    as_json: bool,
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Play a match of GAME between bots, each given as a command, in seat order.

    The command launches the bots, in a sandbox if this machine can build one. They connect like any other bot. The data
    folder keeps the replay.
    """
    if watch + as_json + debug > 1:
        raise click.UsageError("choose one of --watch, --json and --debug")
    commands = bot_commands(bots, start_s)
    if debug:
        chosen = replace(chosen, time_control=TimeControl(move_ms=MAX_TIME_MS, bank_ms=0))
    terms = chosen.of(game, len(commands), seeded=bool(seed))
    exceptions = Exceptions()
    events = SeriesEvents(
        begins=exceptions.begin,
        prints=exceptions.read_line,
        waits=lambda text: say(text, err=True),
        spectator=(lambda: TerminalWatcher(PlainConsole())) if watch else None,
    )
    terminal = commands[0].name if debug else ""
    log_to(data)
    if debug:
        _say_of_terminal(confinement, terminal)
    with plain_errors(), confinement.open(data, commands) as sandbox:
        level = level_of(sandbox)
        games = play_series(
            terms,
            commands,
            data,
            events,
            seed=seed or "",
            count=count,
            sandbox=sandbox,
            terminal=terminal,
        )
    if games is None:
        raise Interrupted("stopped before the match had ended")
    results = _Results(terms, data / "replays", games, exceptions, level, count == 1)
    if as_json:
        print_json(results.as_json())
    else:
        results.print()
    if games[-1].outcome.ending is Ending.ABORTED:
        log = data / "arena.log"
        raise click.ClickException(f"the arena could not finish the match; {log} says why")
    faults = Counter(
        played.names[fault.seat] for played in games for fault in played.outcome.faults
    )
    require_no_faults(faults, strict=strict)
    errors = (fault.kind is FaultKind.ERROR for played in games for fault in played.outcome.faults)
    if exceptions or any(errors):  # clients in other languages print them in their own way
        raise SystemExit(exits.BOT_FAILED)


def _say_of_terminal(confinement: SandboxChoice, name: str) -> None:
    if confinement.demand is SandboxDemand.REQUIRE:
        raise click.UsageError("--debug gives a bot this terminal, which no sandbox allows")
    text = f"{name} has this terminal, runs unsandboxed, and has a day for every move."
    click.echo(text, err=True)


@dataclass(frozen=True, slots=True)
class _Results:
    terms: MatchTerms
    replays: Path
    games: Sequence[SeriesGame]
    exceptions: Exceptions
    level: str
    one: bool
    """Whether a single match was requested, which has no summary."""

    def path(self, played: SeriesGame) -> Path:
        return replay_path(self.replays, played.outcome.match_id)

    def as_json(self) -> dict[str, Any]:
        game = self.terms.game
        games = [
            _as_json(game, list(played.names), played.outcome, self.path(played))
            for played in self.games
        ]
        raised = {"exceptions": self.exceptions.as_json(), "sandbox": self.level}
        if self.one:
            return games[0] | raised
        summary = [asdict(record) for record in self._records()]
        return {"game": game.id, "summary": summary, "games": games} | raised

    def print(self) -> None:
        last, records = self.games[-1], self._records()
        if self.one:
            _print(self.terms.game, last, self.path(last), self.terms.fault_limit)
        elif records:
            played = count_of(len(series.complete(self.games)), "game")
            series.print_records(records, f"{self.terms.game.title}, {played}")
        for line in self.exceptions.in_all():
            say(line)
        if self.exceptions.first is not None:
            match_id, bot = self.exceptions.first
            path = replay_path(self.replays, match_id)
            say(
                f"Its moves and tracebacks: {program()} match why {quoted(path)} {shlex.quote(bot)}"
            )

    def _records(self) -> list[SeriesRecord]:
        games = series.complete(self.games)
        return [SeriesRecord.of(name, games) for name in self.games[0].names] if games else []


def _as_json(game: Game, names: list[str], outcome: Outcome, path: Path) -> dict[str, Any]:
    return {
        "match": outcome.match_id,
        "game": game.id,
        "bots": names,
        "ending": outcome.ending.name.lower(),
        "scores": list(outcome.scores),
        "places": list(outcome.places),
        "ended_by_limit": outcome.ended_by_limit,
        "forfeited": [seat.forfeited for seat in outcome.conduct],
        "hand_scores": [list(scores) for scores in outcome.hand_scores],
        "faults": [
            {
                "bot": names[fault.seat],
                "seat": fault.seat,
                "kind": fault.kind.name.lower(),
                "decision": fault.decision,
                "reason": fault.reason,
            }
            for fault in outcome.faults
        ],
        "replay": str(path),
    }


def _print(game: Game, played: SeriesGame, path: Path, fault_limit: int) -> None:
    console, names, outcome = PlainConsole(), played.names, played.outcome
    if outcome.ending is Ending.ABORTED:
        return
    left = any(seat.forfeited for seat in outcome.conduct)
    rows = sorted(range(len(names)), key=lambda seat: outcome.places[seat])
    print_table(
        ("place", "bot", "seat", "score", "faults", *([""] if left else [])),
        [
            (
                outcome.places[seat],
                names[seat],
                seat,
                outcome.scores[seat],
                sum(fault.seat == seat for fault in outcome.faults) or "",
                *(["forfeited" if outcome.conduct[seat].forfeited else ""] if left else []),
            )
            for seat in rows
        ],
        wrapped=("bot",),
        title=game.title,
        framed=True,
        console=console,
    )
    if outcome.ended_by_limit:
        console.print(ENDED_BY_LIMIT, soft_wrap=True)
    for seat in rows:
        if outcome.conduct[seat].forfeited:
            text = _why_forfeited(outcome, seat, fault_limit)
            console.print(f"{names[seat]} forfeited {text}", markup=False, soft_wrap=True)
    alike: dict[tuple[int, FaultKind, str], list[int]] = {}
    for fault in outcome.faults:
        alike.setdefault((fault.seat, fault.kind, fault.reason), []).append(fault.decision)
    for (seat, kind, reason), decisions in list(alike.items())[:_SHOWN]:
        more = f" and {count_of(len(decisions) - 1, 'later one')}" if len(decisions) > 1 else ""
        at = f"{names[seat]}, decision {decisions[0]}{more}"
        text = f"{at}: {kind.entry.label}: {because(kind, reason)}"
        console.print(text, markup=False, soft_wrap=True)
    if len(alike) > _SHOWN:
        console.print(f"… and {len(alike) - _SHOWN} more kinds of faults")
    if outcome.faults:
        bot = shlex.quote(names[outcome.faults[0].seat])
        why = f"Ask why: {program()} match why {quoted(path)} {bot}"
        console.print(why, markup=False, soft_wrap=True)
    console.print(f"Watch it: {program()} replay show {quoted(path)}", markup=False, soft_wrap=True)


def quoted(path: Path) -> str:
    """Return a path as a word of a command."""
    return shlex.quote(str(path))


def _why_forfeited(outcome: Outcome, seat: int, fault_limit: int) -> str:
    """Return where and why a bot forfeited, and the consequence, as the continuation of the name of the bot."""
    last = [fault for fault in outcome.faults if fault.seat == seat][-1]
    why = because(last.kind, last.reason) or f"it {deed(last.kind)}"
    if last.kind is not FaultKind.GONE and last.decision >= fault_limit:
        why = f"fault number {fault_limit}, which is the limit"
    return f"at its decision {last.decision}: {why}. {BY_FALLBACK}"
