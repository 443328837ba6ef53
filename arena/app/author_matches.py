"""Matches of an author's bots, which are launched into an arena that runs only for these matches. They are not rated."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from arena.api.comparisons import verdict_message
from arena.app.arena_process import ServerSettings, serve
from arena.bots.bot_ids import BotId
from arena.bots.command import folder_command
from arena.bots.tokens import Tokens
from arena.contests.comparison import (
    Comparison,
    ComparisonRecord,
    ComparisonWork,
    UnfinishedComparison,
    name_of,
    play_comparison,
)
from arena.live.arena import Arena
from arena.live.arena_player import UnratedMatches, order_of, play_unrated
from arena.live.launcher import Launcher, require_game
from arena.live.listen import CannotServe
from arena.live.orders import DealSetOrder
from arena.live.players import Players
from arena.referee.events import SpectatorPort
from arena.referee.match_runner import MatchRunner
from arena.referee.spec import Outcome
from arena.referee.terms import MatchTerms
from arena.results.anytime.verdict import Decision, Verdict, verdict
from arena.sandbox.command import BotCommand, parse_commands
from arena.sandbox.sandbox import Sandbox
from cardarena.v1 import comparisons_pb2

WAITED_S: Final = 2.0
"""Seconds of thinking of a bot after which it is reported; the next report is after twice the time."""


def read_commands(texts: Sequence[str]) -> tuple[BotCommand, ...]:
    """Read the commands of bots, or their folders. Raises `BadCommand` if one cannot be launched."""
    return parse_commands(texts, folder_command)


# Matches one after the other.


@dataclass(frozen=True, slots=True)
class SeriesGame:
    """One game of a series."""

    names: tuple[str, ...]
    """The bots by seat."""
    outcome: Outcome

    def seat_of(self, name: str) -> int:
        return self.names.index(name)


@dataclass(frozen=True, slots=True)
class SeriesEvents:
    """The functions that are called while a series is played."""

    begins: Callable[[str], None]
    """Gets the id of a match before it begins."""
    prints: Callable[[str, str], None]
    """Gets the name of a bot and a line of its output."""
    waits: Callable[[str], None]
    """Gets a sentence about a bot that thinks for long."""
    spectator: Callable[[], SpectatorPort] | None = None


def play_series(
    terms: MatchTerms,
    commands: Sequence[BotCommand],
    data: Path,
    events: SeriesEvents,
    *,
    seed: str = "",
    count: int = 1,
    sandbox: Sandbox | None = None,
    terminal: str = "",
) -> list[SeriesGame] | None:
    """Play matches one after the other, with rotated seats, until one is aborted.

    Args:
      commands: The bots, in the seat order of the first match.
      seed: Repeats the deals; without it they are new.
      terminal: The name of a bot that has the terminal, as for a debugger, and no time limit.

    Returns:
      The games; None if SIGTERM stopped them.

    Raises:
      NoShow: if a bot does not connect. As `arena.app.arena_process.serve`.
    """
    bots = tuple(BotId(command.name) for command in commands)
    orders = _orders(terms, bots, seed, count)

    async def main(arena: Arena) -> list[SeriesGame]:
        def begins(match_id: str) -> None:
            events.begins(match_id)
            if events.spectator is not None:
                arena.matches.watch(match_id, events.spectator())

        async with trio.open_nursery() as nursery:
            launcher = Launcher(
                arena,
                commands,
                data / "bots" / orders[0].deal_set,
                nursery,
                sandbox=sandbox,
                terminal=terminal,
                heard=events.prints,
            )
            await launcher.require(bots)
            require_game(arena, bots, terms)
            if not terminal:
                nursery.start_soon(report_waits, arena.matches.referee.runners.values, events.waits)
            matches = UnratedMatches(arena, begins)
            await play_unrated(orders, matches, arena, launcher, max_matches=1)
            await launcher.send_home()
            nursery.cancel_scope.cancel()
        return [
            SeriesGame(tuple(bot.name for bot in table.bots), matches.outcomes[table.match_id])
            for table in (order.tables[0] for order in orders)
            if table.match_id in matches.outcomes
        ]

    # SIGTERM ends the match, because its result is not needed any more.
    return serve(ServerSettings(data, drain_s=0.0).sandboxed(sandbox), Tokens(), main)


def _orders(
    terms: MatchTerms, bots: tuple[BotId, ...], seed: str, count: int
) -> list[DealSetOrder]:
    """Return matches with rotated seats; the first one equals that of a single match."""
    orders = []
    for index in range(count):
        turn = index % len(bots)
        seated = bots[turn:] + bots[:turn]
        own_seed = f"{seed}/{index}" if seed and index else seed
        orders.append(DealSetOrder.of_match(terms, seated, seed=own_seed))
    return orders


async def report_waits(
    runners: Callable[[], Iterable[MatchRunner]], waits: Callable[[str], None]
) -> None:
    """Report periodically which bots matches wait for, and how long these may still think."""
    next_s: dict[tuple[str, int, int], float] = {}
    """By match, seat and decision: after which time it is reported next."""
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
                waits(
                    f"{name} (seat {ask.seat}) has been to move for {waited_s:.0f} s, at its"
                    f" decision {ask.decision}; it has {left_s:.0f} s left"
                )


# A comparison of two.


def comparison_of(
    terms: MatchTerms, commands: Sequence[BotCommand], seed: str | None, *, each_other: bool
) -> Comparison:
    """Return the comparison of the first two bots, against each other or the other bots; without a seed its deals are new.

    Raises `ValueError` if these two cannot be compared so.
    """
    first, second, *field = (command.name for command in commands)
    seed = seed or secrets.token_hex(8)
    name = name_of(seed, secrets.token_hex(8))  # a new name, so that stored matches do not count
    return Comparison(name, terms, first, second, tuple(field), each_other, seed)


def new_record() -> ComparisonRecord:
    """Return the record of a comparison that begins. Commands call this, because they do not import contests."""
    return ComparisonRecord()


def compare(
    comparison: Comparison,
    commands: Sequence[BotCommand],
    data: Path,
    *,
    most: int,
    record: ComparisonRecord,
    same_within: float | None = None,
    sandbox: Sandbox | None = None,
    on_verdict: Callable[[Verdict], None] = lambda _: None,
) -> comparisons_pb2.Comparison:
    """Launch bots into an arena, and play a comparison until it is decided, Ctrl-C or the largest number of deal-sets.

    Args:
      record: The deal-sets so far; those that are played are added.
      same_within: The difference within which two bots are the same, in points; None for no such test.
      on_verdict: Called with the verdict so far, after each block of deal-sets.

    Returns:
      The two bots, the limit and the verdict.

    Raises:
      CannotServe: if the arena cannot finish a match.
      NoShow: if a bot does not connect. As `arena.app.arena_process.serve`.
    """
    margins = record.margins

    def verdict_so_far() -> Verdict:
        return verdict(margins, comparison.measure.bound, same_within=same_within)

    async def goes_on(_: float) -> bool:
        so_far = verdict_so_far()
        if margins:
            on_verdict(so_far)
        return so_far.decision is Decision.OPEN and len(margins) < most

    work = ComparisonWork(comparison, record, most, goes_on)

    async def main(arena: Arena) -> None:
        async with trio.open_nursery() as nursery:
            folder = data / "bots" / "compare"
            players = Players(arena, data, folder, nursery, sandbox=sandbox, of_one_author=True)
            for command in commands:
                players.add(command)
            first = order_of(comparison.deal_set(1), comparison.terms).bots
            await players.require(first)
            require_game(arena, first, comparison.terms)
            await play_comparison(work, comparison, arena, players)
            await players.send_home()
            nursery.cancel_scope.cancel()

    try:
        serve(ServerSettings(data, limits_load=True).sandboxed(sandbox), Tokens(), main)
    except* KeyboardInterrupt:
        pass  # the margins so far are a valid result
    except* UnfinishedComparison as unfinished:
        raise CannotServe(
            "the arena could not finish the comparison; its log says why"
        ) from unfinished
    return verdict_message(verdict_so_far(), comparison.first, comparison.second, limit=most)
