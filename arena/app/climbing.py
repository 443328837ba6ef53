"""The ladder to climb: frozen bots of a game, and how a bot plays upward by comparisons until it does not beat one.

The results are stored in a file after each block of deal-sets, and the same climb continues from there.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.contests.comparison import BLOCK_DEAL_SETS, Comparison, ComparisonRecord
from arena.games.game import Game
from arena.local.kept_lines import KeptLines
from arena.referee.terms import MatchTerms
from arena.referee.wire.terms import terms_json
from arena.results.anytime.verdict import Verdict
from arena.results.deal_sets import digest
from arena.sandbox.command import BotCommand
from arena.sandbox.house_levels import STEPS
from cardarena.v1 import comparisons_pb2

CHAMPIONS: Final = "champions"
"""The folder of a data folder with archived champions: in it a folder for each game, with a bot in each entry."""
FOLDER: Final = "climbs"
"""The folder of a data folder with the results of climbs."""
MOST_LONGER: Final = 4
"""The maximal factor of deal-sets for a rung that the bot is about to beat."""


def is_beaten(result: comparisons_pb2.Comparison) -> bool:
    """Return whether the climbing bot, the first of a comparison with a rung, is better by the anytime test."""
    return result.decision == comparisons_pb2.COMPARISON_DECISION_BETTER


def longer(result: comparisons_pb2.Comparison, most: int) -> int:
    """Return the number of deal-sets that the bot, which is ahead of a rung, likely needs to beat it; 0 if it gets no more.

    If margins are small compared with the bound of the rules, no valid test decides within `most` deal-sets. A later
    limit may depend on the results so far, because the test may be read at any time.
    """
    is_ahead = not result.decision and result.mean > 0.0 and result.HasField("needed_mid")
    needed = result.deal_sets + max(BLOCK_DEAL_SETS, result.needed_mid)
    return needed if is_ahead and needed <= MOST_LONGER * most else 0


@dataclass(frozen=True, slots=True)
class ComparedRung:
    """A rung, and the result of the comparison with it."""

    name: str
    bot: BotCommand
    comparison: Comparison
    result: comparisons_pb2.Comparison
    margins: tuple[float, ...]
    """The climbing bot's, one for each deal-set in order."""
    faults: Mapping[str, int]
    """Faults by bot in the deal-sets that this process played."""

    @property
    def is_beaten(self) -> bool:
        return is_beaten(self.result)

    @property
    def worst(self) -> int | None:
        """The number of the deal-set in which the climbing bot lost most; None if it lost none."""
        lowest = min(self.margins, default=0.0)
        return self.margins.index(lowest) + 1 if lowest < 0.0 else None


def rungs_of(game: Game, data: Path) -> dict[str, str]:
    """Return the commands of the rungs of a game by name, the lowest first: random and first moves, house levels, champions."""
    random, *levels = STEPS
    folder = data / CHAMPIONS / game.id
    champions = sorted(folder.iterdir()) if folder.is_dir() else []
    return {
        random: f"house:{random}",
        "first": "sample_bots/first_bot.py",
        **{level: f"house:{level}" for level in levels},
        **{path.stem: str(path.absolute()) for path in champions},
    }


def climb(
    bot: BotCommand,
    rungs: Mapping[str, BotCommand],
    terms: MatchTerms,
    data: Path,
    play: Callable[..., comparisons_pb2.Comparison],
    *,
    most: int,
    seed: str | None,
    on_verdict: Callable[[str, Verdict], None],
) -> Iterator[ComparedRung]:
    """Compare a bot with one rung after the other, and yield each result, until a rung is not beaten.

    They play each other if a table has two seats; otherwise both play against the house bot of the level `sample`.

    Args:
      rungs: By name, the lowest first.
      most: Deal-sets against a rung after which it counts as not beaten; more by `longer`.
      seed: Determines the seating and seeded deals; by default they follow from the bots' files.
      on_verdict: Called with the name of a rung and the verdict so far, after each block.

    Raises:
      BadCommand: if a file of a bot cannot be read.
      KeyboardInterrupt: after Ctrl-C. The same call continues. As `play`.
    """
    run: dict[str, Any] = {
        "terms": terms_json(terms),
        "seed": seed,
        "bot": [*bot.argv, digest(bot.content())],
        "rungs": [[*rung.argv, digest(rung.content())] for rung in rungs.values()],
    }
    climb_id = digest(run)[:16]
    with contextlib.closing(KeptLines(data / FOLDER / f"{climb_id}.jsonl", run)) as kept:
        for name, rung in rungs.items():
            blocks = [line["margins"] for line in kept.earlier if line["rung"] == name]
            record = ComparisonRecord([margin for block in blocks for margin in block])
            written = len(record.margins)

            def keep(verdict: Verdict, name: str = name, margins: Any = record.margins) -> None:
                nonlocal written
                if new := margins[written:]:
                    kept.add({"rung": name, "margins": new})
                    written += len(new)
                on_verdict(name, verdict)

            comparison = Comparison(
                f"climb-{climb_id}-{name}",  # always the same, so that matches that were played count
                terms,
                bot.name,
                rung.name,
                each_other=terms.seats == 2,
                seed=seed or climb_id,
            )
            limit = most
            while True:
                result = play(comparison, (bot, rung), most=limit, record=record, on_verdict=keep)
                further = longer(result, most)
                if len(record.margins) < limit or further <= limit:
                    break
                limit = further
            is_over = result.decision or len(record.margins) >= limit
            if len(record.margins) > written or not is_over:
                # Ctrl-C ended `play`, perhaps before the last margins were stored
                raise KeyboardInterrupt
            reached = ComparedRung(
                name, rung, comparison, result, tuple(record.margins), record.faults
            )
            yield reached
            if not reached.is_beaten:
                return
