"""`arena play`: one match between bots given as commands, on this machine."""

import functools
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import click
import trio
from rich.table import Table

from arena.cli import series
from arena.cli.options import (
    ChosenTerms,
    GameType,
    bot_commands,
    data_option,
    log_to,
    plain_errors,
    print_json,
    terms_options,
)
from arena.cli.sandbox_options import SandboxChoice, level_of, sandbox_options
from arena.cli.series import Exceptions, SeriesGame, SeriesRecord
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import Interrupted, program, say
from arena.cli.terminal.watcher import TerminalWatcher
from arena.errors import exits
from arena.games.game import Game
from arena.referee import Ending, FaultKind, Outcome
from arena.referee.match_runner import MatchRunner
from arena.replay.phrases import BY_FALLBACK, ENDED_BY_LIMIT, because, deed
from arena.replay.phrases import count as count_of
from arena.replay.read import replay_path
from arena.sandbox import Sandbox, SandboxDemand
from arena.server.admission.tokens import Tokens
from arena.server.app import sandboxed, serve
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.arena_player import UnratedMatches, play_unrated
from arena.server.competitions.launcher import Launcher
from arena.server.orders import DealSetOrder
from arena.terms import MAX_TIME_MS, MatchTerms, TimeControl

WAITED_S: Final = 2.0
"""How long a bot may think before the command says so, in seconds; then again after twice the time."""


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
    as_json: bool,
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Play a match of GAME between bots, each given as a command, in seat order.

    The command launches the bots, in a sandbox if this machine can build one. They connect as any
    other bot does. The data folder keeps the replay.
    """
    if watch + as_json + debug > 1:
        raise click.UsageError("choose one of --watch, --json and --debug")
    commands = bot_commands(bots)
    if debug:
        chosen = replace(chosen, time_control=TimeControl(move_ms=MAX_TIME_MS, bank_ms=0))
    terms = chosen.of(game, len(commands), seeded=bool(seed))
    players = tuple(BotId(command.name) for command in commands)
    orders = _orders(terms, players, seed, count)
    exceptions = Exceptions()

    async def main(sandbox: Sandbox | None, arena: Arena) -> list[SeriesGame]:
        def begins(match_id: str) -> None:
            exceptions.match_id = match_id
            if watch:
                arena.matches.watch(match_id, TerminalWatcher(PlainConsole()))

        async with trio.open_nursery() as nursery:
            launcher = Launcher(
                arena,
                commands,
                data / "bots" / orders[0].deal_set,
                nursery,
                sandbox=sandbox,
                terminal=commands[0].name if debug else "",
                heard=exceptions.read_line,
            )
            await launcher.require(players)
            if not debug:
                nursery.start_soon(say_waiting, arena.matches.referee.runners.values)
            matches = UnratedMatches(arena, begins)
            await play_unrated(orders, matches, arena, launcher, max_matches=1)
            await launcher.send_home()
            nursery.cancel_scope.cancel()
        return [
            SeriesGame(tuple(bot.name for bot in table.bots), matches.outcomes[table.match_id])
            for table in (order.tables[0] for order in orders)
            if table.match_id in matches.outcomes
        ]

    log_to(data)
    if debug:
        _say_of_terminal(confinement, commands[0].name)
    with plain_errors(), confinement.open(data, commands) as sandbox:
        level = level_of(sandbox)
        # SIGTERM ends the match, as its result is not needed any more.
        settings = replace(sandboxed(data, sandbox), drain_s=0.0)
        games = serve(settings, Tokens(), functools.partial(main, sandbox))
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
    if exceptions:
        raise SystemExit(exits.BOT_FAILED)


async def say_waiting(runners: Callable[[], Iterable[MatchRunner]]) -> None:
    """Print on standard error which bot a match waits for, and how long it may still think."""
    next_s: dict[tuple[str, int, int], float] = {}
    """By match, seat and decision: after which time it is printed next."""
    while True:
        await trio.sleep(WAITED_S / 4)
        now_s = trio.current_time()
        for runner in runners():
            for ask in runner.open_asks:
                key = (runner.spec.match_id, ask.seat, ask.decision)
                waited_s = now_s - ask.sent_s
                if ask.sent_s < 0 or waited_s < next_s.get(key, WAITED_S):
                    continue
                next_s[key] = 2 * waited_s
                name, left_s = runner.spec.entrants[ask.seat].name, max(0.0, ask.due_s - now_s)
                say(
                    f"{name} (seat {ask.seat}) has been to move for {waited_s:.0f} s, at its"
                    f" decision {ask.decision}; it has {left_s:.0f} s left",
                    err=True,
                )


def _say_of_terminal(confinement: SandboxChoice, name: str) -> None:
    """Print what differs for the bot that has the terminal."""
    if confinement.demand is SandboxDemand.REQUIRE:
        raise click.UsageError("--debug gives a bot this terminal, which no sandbox allows")
    text = f"{name} has this terminal, runs unsandboxed, and has a day for every move."
    click.echo(text, err=True)


def _orders(
    terms: MatchTerms, players: tuple[BotId, ...], seed: str | None, count: int
) -> list[DealSetOrder]:
    """Matches with rotated seats; the first one equals that of a single match."""
    orders = []
    for at in range(count):
        turn = at % len(players)
        seated = players[turn:] + players[:turn]
        orders.append(
            DealSetOrder.of_match(terms, seated, seed=f"{seed}/{at}" if seed and at else seed or "")
        )
    return orders


@dataclass(frozen=True, slots=True)
class _Results:
    """The results of the matches, as text and as JSON."""

    terms: MatchTerms
    replays: Path
    games: Sequence[SeriesGame]
    exceptions: Exceptions
    level: str
    one: bool
    """Whether one match was asked for, which has no summary."""

    def path(self, played: SeriesGame) -> Path:
        """The replay of a match."""
        return replay_path(self.replays, played.outcome.match_id)

    def as_json(self) -> dict[str, Any]:
        """One match by its result; several with their summary."""
        game = self.terms.game
        each = [_as_json(game, list(e.names), e.outcome, self.path(e)) for e in self.games]
        raised = {"exceptions": self.exceptions.as_json(), "sandbox": self.level}
        if self.one:
            return each[0] | raised
        summary = [asdict(record) for record in self._records()]
        return {"game": game.id, "summary": summary, "games": each} | raised

    def print(self) -> None:
        """Print the table and faults of one match, or the summary of several."""
        last, records = self.games[-1], self._records()
        if self.one:
            _print(self.terms.game, last, self.path(last), self.terms.fault_limit)
        elif records:
            played = count_of(len(series.complete(self.games)), "game")
            PlainConsole().print(series.table(records, f"{self.terms.game.title}, {played}"))
        for line in self.exceptions.in_all():
            say(line)
        if self.exceptions.first is not None:
            match_id, bot = self.exceptions.first
            path = replay_path(self.replays, match_id)
            say(f"Its moves and tracebacks: {program()} match why {path} {shlex.quote(bot)}")

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
    table = Table("place", "bot", "seat", "score", "faults", title=game.title)
    left = any(seat.forfeited for seat in outcome.conduct)
    if left:
        table.add_column("")
    rows = sorted(range(len(names)), key=lambda seat: outcome.places[seat])
    for seat in rows:
        faults = sum(fault.seat == seat for fault in outcome.faults)
        table.add_row(
            str(outcome.places[seat]),
            names[seat],
            str(seat),
            str(outcome.scores[seat]),
            str(faults) if faults else "",
            *(["forfeited" if outcome.conduct[seat].forfeited else ""] if left else []),
        )
    console.print(table)
    if outcome.ended_by_limit:
        console.print(ENDED_BY_LIMIT, soft_wrap=True)
    for seat in rows:
        if outcome.conduct[seat].forfeited:
            text = _why_forfeited(outcome, seat, fault_limit)
            console.print(f"{names[seat]} forfeited {text}", markup=False, soft_wrap=True)
    for fault in outcome.faults[:5]:
        at = f"{names[fault.seat]}, decision {fault.decision}"
        why = because(fault.kind, fault.reason)
        console.print(f"{at}: {fault.kind.entry.label}: {why}", markup=False)
    if len(outcome.faults) > 5:
        console.print(f"… and {len(outcome.faults) - 5} more faults")
    if outcome.faults:
        bot = shlex.quote(names[outcome.faults[0].seat])
        why = f"Ask why: {program()} match why {path} {bot}"
        console.print(why, markup=False, soft_wrap=True)
    console.print(f"Watch it: {program()} replay show {path}", markup=False, soft_wrap=True)


def _why_forfeited(outcome: Outcome, seat: int, fault_limit: int) -> str:
    """Where and why a bot forfeited, and the consequence; follows the name of the bot."""
    last = [fault for fault in outcome.faults if fault.seat == seat][-1]
    why = because(last.kind, last.reason) or f"it {deed(last.kind)}"
    if last.kind is not FaultKind.GONE and last.decision >= fault_limit:
        why = f"fault number {fault_limit}, which is the limit"
    return f"at its decision {last.decision}: {why}. {BY_FALLBACK}"
