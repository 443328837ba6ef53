"""Tuning of a bot's parameters: the trials of `arena.results.tuning`, which are played by tasks and stored, so that a killed run can continue."""

import contextlib
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from arena.app.comparison_tasks import outcomes_by_tasks
from arena.contests.comparison import Comparison, ComparisonRecord
from arena.local.engines import Engine
from arena.local.kept_lines import KeptLines
from arena.referee.terms import MatchTerms
from arena.referee.wire.terms import terms_json
from arena.results.deal_sets import digest
from arena.results.tuning import Parameter, Point, Trial, Tuned, TuningLimits, tuning
from arena.sandbox.command import BotCommand

FOLDER: Final = "tunings"
"""The folder of a data folder with the results of tuning."""
_FIRST, _SECOND = "(first)", "(second)"


def with_values(bot: BotCommand, parameters: Sequence[Parameter], point: Point) -> BotCommand:
    """Return the bot with a word for the value of each parameter."""
    words = [parameter.word(place) for parameter, place in zip(parameters, point, strict=True)]
    return replace(bot, argv=(*bot.argv, *words))


def tune(
    bot: BotCommand,
    opponents: Sequence[BotCommand],
    parameters: Sequence[Parameter],
    terms: MatchTerms,
    engine: Engine,
    data: Path,
    *,
    limits: TuningLimits,
    seed: str,
    on_played: Callable[[int, Sequence[Trial]], None] = lambda *_: None,
    on_exception: Callable[[str, str], None] = lambda *_: None,
) -> tuple[Tuned, Path]:
    """Find good values of a bot's parameters, and return them with the file of the results.

    Args:
      bot: The bot, without words for its parameters.
      opponents: Bots to play against on the same boards; without any, two points play each other if
        a table has two seats, and otherwise against the house bot of the level `sample`.
      data: The data folder, which keeps the results. The same call continues after the last stored
        trials.
      on_played: Called with the deal-sets so far and the trials that are played next.
      on_exception: As for `arena.app.comparison_tasks.compare_by_tasks`.

    Raises:
      As `arena.app.comparison_tasks.compare_by_tasks`.
    """
    field = tuple(opponent.name for opponent in opponents)
    each_other = terms.seats == 2 and not field
    comparison = Comparison("tune", terms, _FIRST, _SECOND, field, each_other, seed)
    run: dict[str, Any] = {
        "bots": [[*command.argv, digest(command.content())] for command in (bot, *opponents)],
        "parameters": [asdict(parameter) for parameter in parameters],
        "terms": terms_json(terms),
        "limits": asdict(limits),
        "seed": seed,
    }
    path = data / FOLDER / f"{digest(run)[:16]}.jsonl"

    def margins_of(trials: Sequence[Trial]) -> list[list[float]]:
        parts = []
        for trial in trials:
            first, second = (
                replace(with_values(bot, parameters, point), name=name)
                for point, name in ((trial.first, _FIRST), (trial.second, _SECOND))
            )
            parts.append((comparison, (first, second, *opponents), trial.numbers))
        played = outcomes_by_tasks(parts, engine, on_exception)
        margins = []
        for trial in trials:
            record = ComparisonRecord()
            for number in trial.numbers:
                record.add(comparison, next(played), number)
            margins.append(record.margins)
        return margins

    with contextlib.closing(KeptLines(path, run)) as kept:
        earlier = iter(kept.earlier)
        search = tuning(len(parameters), limits, comparison.measure.bound, random.Random(seed))
        deal_sets, trials = 0, next(search)
        while True:
            on_played(deal_sets, trials)
            if (margins := next(earlier, None)) is None:
                margins = margins_of(trials)
                kept.add(margins)
            deal_sets += sum(map(len, margins))
            try:
                trials = search.send(margins)
            except StopIteration as end:
                return end.value, path
