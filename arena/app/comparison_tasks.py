"""Comparisons of bots of Python whose deal-sets are tasks: in this process, in others of this machine, or on a cluster.

The bots have no sandbox, no connection and no clocks. Their files are at the same paths wherever tasks run.
"""

import copy
import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from arena.api.comparisons import verdict_message
from arena.contests.comparison import BLOCK_DEAL_SETS, Comparison, ComparisonRecord
from arena.live.matches.results import match_outcome
from arena.local.engines import Engine
from arena.local.many import results_in_order
from arena.local.match import Match
from arena.local.place import AnyBot, require_fit
from arena.local.program import NoBot, bot_of
from arena.referee.wire.terms import terms_message, terms_of_message
from arena.results.anytime.verdict import Decision, Verdict, verdict
from arena.results.deal_sets import HOUSE, DealSet, MatchOutcome, MatchPlan
from arena.sandbox.command import BadCommand, BotCommand, house_argv
from cardarena.v1 import comparisons_pb2, game_pb2


@dataclass(frozen=True, slots=True)
class _Program:
    name: str
    level: str
    """That of a house bot; empty for others."""
    words: tuple[str, ...]
    """A Python file and its arguments."""
    content: str
    """The hashes of its files: a process that has loaded other files loads it again."""


@dataclass(frozen=True, slots=True)
class _Task:
    terms: bytes
    deal_set: DealSet
    programs: Mapping[str, _Program]

    def __str__(self) -> str:
        return f"deal-set {self.deal_set.number}"


_Played: TypeAlias = list[tuple[MatchOutcome, list[tuple[int, str]]]]
"""For each table its outcome, and its exceptions with their seats."""


def compare_by_tasks(
    comparison: Comparison,
    commands: Sequence[BotCommand],
    engine: Engine,
    *,
    most: int,
    record: ComparisonRecord,
    same_within: float | None = None,
    on_verdict: Callable[[Verdict], None] = lambda _: None,
    on_exception: Callable[[str, str], None] = lambda *_: None,
) -> comparisons_pb2.Comparison:
    """Play a comparison until it is decided, Ctrl-C or the largest number of deal-sets.

    The result does not depend on the engine. `on_exception` gets the name of a bot, and the place and text of what its
    code raised. See `arena.app.author_matches.compare` for the other arguments and the result.

    Raises:
      BadCommand: if a bot is no Python program, gives no bot, or does not play the game.
      Unplayed: if a process dies repeatedly.
    """

    def verdict_so_far() -> Verdict:
        return verdict(record.margins, comparison.measure.bound, same_within=same_within)

    numbers = range(len(record.margins) + 1, most + 1)
    so_far = verdict_so_far()
    try:
        if so_far.decision is Decision.OPEN:
            played = outcomes_by_tasks([(comparison, commands, numbers)], engine, on_exception)
            for number, outcomes in zip(numbers, played, strict=False):
                record.add(comparison, outcomes, number)
                if number % BLOCK_DEAL_SETS == 0 or number == most:
                    so_far = verdict_so_far()
                    on_verdict(so_far)
                    if so_far.decision is not Decision.OPEN:
                        break
    except KeyboardInterrupt:
        so_far = verdict_so_far()  # the margins so far are a valid result
    return verdict_message(so_far, comparison.first, comparison.second, limit=most)


def outcomes_by_tasks(
    parts: Sequence[tuple[Comparison, Sequence[BotCommand], Sequence[int]]],
    engine: Engine,
    on_exception: Callable[[str, str], None] = lambda *_: None,
) -> Iterator[list[MatchOutcome]]:
    """Yield for each deal-set the outcomes of its tables, in order: for each part, deal-sets of these numbers.

    Each part has a comparison and its bots. All parts are submitted together.

    Raises:
      As `compare_by_tasks`.
    """
    tables = deque[tuple[MatchPlan, ...]]()

    def tasks() -> Iterator[_Task]:
        for comparison, commands, numbers in parts:
            terms = terms_message(comparison.terms).SerializeToString()
            every = (*commands, BotCommand(HOUSE, house_argv("sample")))
            programs = {command.name: _program(command) for command in every}
            for program in programs.values():
                _bot(program, comparison.terms.game.id)
            for number in numbers:
                deal_set = comparison.deal_set(number)
                tables.append(deal_set.matches)
                yield _Task(terms, deal_set, programs)

    for played in results_in_order(engine, _played, tasks()):
        matches = tables.popleft()
        for table, (_, failures) in zip(matches, played, strict=True):
            for seat, text in failures:
                on_exception(table.bots[seat], text)
        yield [outcome for outcome, _ in played]


def bot_of_command(command: BotCommand, game: str) -> AnyBot:
    """Return the bot of a command, to be played in this process.

    Raises `BadCommand` if it is no Python program, gives no bot, or does not play the game.
    """
    return _bot(_program(command), game)


def _program(command: BotCommand) -> _Program:
    python, *words = command.argv
    if command.is_house:
        return _Program(command.name, words[-1], (), "")
    if python != sys.executable or not words or not words[0].endswith(".py"):
        raise BadCommand(
            f"the bot {command.name!r} is started by `{command.text}`, and only a Python file can be "
            "played without an arena: leave --in-process and --on out"
        )
    return _Program(command.name, "", tuple(words), command.content())


@functools.lru_cache(maxsize=64)
def _bot(program: _Program, game: str) -> AnyBot:
    """Run a program up to the call of `cardarena.run`, and return its bot."""
    try:
        bot = bot_of(house_argv(program.level)[1:] if program.level else program.words)
        require_fit(bot, game)
    except (NoBot, ValueError) as error:
        raise BadCommand(
            f"the bot {program.name!r} cannot be played without an arena: {error}"
        ) from error
    return bot


def _played(task: _Task) -> _Played:
    """Play a deal-set with new bots at each table, in any process. An exception is a fault, as over the network."""
    terms = terms_of_message(game_pb2.MatchTerms.FromString(task.terms))
    played: _Played = []
    for plan in task.deal_set.matches:
        seated = [copy.deepcopy(_bot(task.programs[name], terms.game.id)) for name in plan.bots]
        match = Match(terms, task.deal_set.seed, seated, raising=False, folder=None)
        failures = [(failure.seat, str(failure.raised)) for failure in match.play().exceptions]
        assert match.outcome is not None
        played.append((match_outcome(replace(match.outcome, match_id=plan.id)), failures))
    return played
