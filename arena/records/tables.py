"""Tables of many matches, for data frames: matches, their seats, and decisions, in files by game.

Replays are read one after the other, and files are written as rows come: memory holds a match and some rows. Parquet is made of
JSON Lines by DuckDB, part by part.
"""

import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TextIO, TypeAlias

from arena.games.contract import Move, Options, Seat, State
from arena.games.game import Game
from arena.games.notation import Notation
from arena.records.export import decision_values, match_values
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.verify import verify

PART_ROWS: Final = 200_000
"""The number of rows of a file. The next row begins another file."""
PART_CHARACTERS: Final = 256_000_000
"""The approximate size of a file of JSON Lines after which another one begins."""
MEMORY: Final = "512MB"
"""The memory limit of DuckDB when it writes Parquet."""

Encode: TypeAlias = Callable[[Game, Options, int, State, Seat, Move], Mapping[str, Any]]
"""Returns the columns `NUMBERS` of a decision, in a match with a number of seats."""
Row: TypeAlias = dict[str, Any]

COLUMNS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "matches": {
        "match_id": ("VARCHAR", "the id, which joins the tables"),
        "rules_version": ("INTEGER", "the version of the rules"),
        "seats": ("INTEGER", "the number of seats"),
        "options": ("VARCHAR", "the options of the game, as JSON"),
        "time_control": ("VARCHAR", "the clock in milliseconds, as JSON"),
        "fault_limit": ("INTEGER", "faults at which a seat forfeits"),
        "deal_set": ("VARCHAR", "matches with equal values have the same cards; empty for a single match"),
        "start_unix_ms": ("BIGINT", "the beginning, in milliseconds since 1970"),
        "end_us": ("BIGINT", "the length in microseconds"),
        "ending": ("VARCHAR", "`completed`, `forfeit` or `aborted`"),
        "cause": ("VARCHAR", "why it was aborted"),
        "ended_by_limit": ("BOOLEAN", "whether the number of hands ended it"),
        "hands": ("INTEGER", "completed hands"),
        "decisions": ("INTEGER", "decisions of all seats"),
        "faults": ("INTEGER", "faults of all seats"),
        "fair": ("BOOLEAN", "whether the bots took part in the shuffle"),
        "seed": ("VARCHAR", "the seed of the deals; null for a fair deal"),
        "deal_key": ("VARCHAR", "the key of the deals, in hexadecimal digits"),
        "signed_by": ("VARCHAR", "the public key of the arena; null without a signature"),
    },
    "seats": {
        "match_id": ("VARCHAR", "the id of the match"),
        "seat": ("INTEGER", "the seat, from 0"),
        "bot": ("VARCHAR", "the name of the bot"),
        "version": ("VARCHAR", "the version that the bot gave itself"),
        "score": ("BIGINT", "points, in the unit of the game; null if aborted"),
        "place": ("INTEGER", "from 1; null if aborted"),
        "hand_scores": ("BIGINT[]", "points of each completed hand"),
        "decisions": ("INTEGER", "its decisions"),
        "faults": ("INTEGER", "its faults"),
        "charged_us": ("BIGINT", "the time that it used, in microseconds"),
        "forfeited": ("BOOLEAN", "whether it forfeited"),
    },
    "decisions": {
        "match_id": ("VARCHAR", "the id of the match"),
        "bot": ("VARCHAR", "the name of the bot"),
        "seat": ("INTEGER", "its seat, from 0"),
        "decision": ("INTEGER", "the decision of the seat, from 1"),
        "step": ("INTEGER", "the step, as in `arena replay show`"),
        "hand": ("INTEGER", "the hand, from 0"),
        "text": ("VARCHAR", "the move, in notation"),
        "verb": ("VARCHAR", "its first word"),
        "move": ("VARCHAR", "the move by its fields, as JSON"),
        "sent_us": ("BIGINT", "when the ask was sent, in microseconds from the start of the match"),
        "charged_us": ("BIGINT", "the time that was charged"),
        "refunded_us": ("BIGINT", "the time that was given back"),
        "bank_ms": ("BIGINT", "the bank after the decision, in milliseconds"),
        "fault": ("VARCHAR", "the fault for which the fallback move was played; null without one"),
        "reason": ("VARCHAR", "the reason of the fault"),
        "evidence": ("VARCHAR", "the evidence of the fault, as JSON"),
        "unasked": ("BOOLEAN", "whether the bot was not asked, because it had forfeited"),
        "forfeited": ("BOOLEAN", "whether the seat has forfeited with this decision"),
    },
}  # fmt: skip
"""For each table the columns: their type in DuckDB, and their meaning."""
NUMBERS: Final[Mapping[str, tuple[str, str]]] = {
    "observation": ("FLOAT[]", "what the seat sees, as numbers of its [layout](layouts.md)"),
    "legal_actions": ("INTEGER[]", "the legal actions"),
    "action": ("INTEGER", "the action that was played; null if the layout has none for it"),
}
"""The columns that decisions have with `--tensors`."""
FORMS: Final = ("parquet", "jsonl")


class NoDuckDB(Exception):
    """DuckDB is not installed. The text says how to install it."""


def rows_of(replay: Replay, encode: Encode | None = None) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a match, each with its table: decisions in order, then seats, then the match.

    Raises `Damaged`, `Unplayable` or `Discrepancy` as `verify` does, so that nothing false is exported.
    """
    verified = verify(replay)
    spec, outcome = replay.spec(), verified.outcome
    terms, names = spec.terms, replay.names
    decided = {(decision.seat, decision.decision): decision for decision in replay.decided}
    notation = Notation(terms.game.messages.Move)
    for step in play_back(replay):
        for decision in step.decisions:
            values = decision_values(step, decision, decided, notation)
            values["bot"] = names[decision.seat]
            if encode is not None:
                values |= encode(
                    terms.game,
                    terms.options,
                    terms.seats,
                    step.before,
                    decision.seat,
                    decision.move,
                )
            yield "decisions", _row("decisions", spec.match_id, values)
    for seat, entrant in enumerate(spec.entrants):
        decisions = [record for record in replay.decided if record.seat == seat]
        scored = {
            "score": outcome.scores[seat] if outcome.scores else None,
            "place": outcome.places[seat] if outcome.places else None,
        }
        values = {
            "seat": seat,
            "bot": entrant.name,
            "version": entrant.version,
            "hand_scores": [scores[seat] for scores in outcome.hand_scores],
            "decisions": len(decisions),
            "faults": sum(record.fault != 0 for record in decisions),
            "charged_us": sum(record.charged_us for record in decisions),
            "forfeited": seat in verified.forfeited,
        }
        yield "seats", _row("seats", spec.match_id, values | scored)
    values = match_values(replay, terms, verified) | {
        "end_us": replay.closed.end_us,
        "ending": outcome.ending.name.lower(),
        "cause": outcome.cause.name.lower() if outcome.cause else None,
        "ended_by_limit": outcome.ended_by_limit,
        "hands": len(outcome.hand_scores),
        "decisions": outcome.decisions,
        "faults": len(outcome.faults),
    }
    yield "matches", _row("matches", spec.match_id, values)


def _row(table: str, match_id: str, values: Mapping[str, Any]) -> Row:
    row = {"match_id": match_id}
    for name in (*COLUMNS[table], *(NUMBERS if table == "decisions" else ())):
        if name in values:
            value = values[name]
            is_nested = isinstance(value, dict)
            row[name] = json.dumps(value, separators=(",", ":")) if is_nested else value
    return row


@dataclass(slots=True)
class _Part:
    file: TextIO
    path: Path
    rows: int = 0
    size: int = 0


@dataclass
class TableFiles:
    """Writes rows to files: `FOLDER/TABLE/game=GAME/part-00000.parquet`, or `.jsonl`.

    A file that is not complete ends in `.writing`.
    """

    folder: Path
    form: str
    with_numbers: bool
    part_rows: int = PART_ROWS
    part_characters: int = PART_CHARACTERS
    _parts: dict[tuple[str, str], _Part] = field(default_factory=dict)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _files: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        """Make the folder.

        Raises `FileExistsError` if it has tables already, and `NoDuckDB` if Parquet cannot be written.
        """
        if self.form == "parquet" and importlib.util.find_spec("duckdb") is None:
            raise NoDuckDB(
                "Parquet is written by DuckDB, which is not installed: pip install 'cardarena[research]', "
                "or choose --as jsonl"
            )
        if any((self.folder / table).exists() for table in COLUMNS):
            raise FileExistsError(17, "it has tables already; name another folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Complete the files that are open, unless an error ended the export."""
        if kind is None:
            for key in list(self._parts):
                self._complete(key)
        self._files.close()

    def add(self, game: str, rows: Iterable[tuple[str, Row]]) -> None:
        for table, row in rows:
            key = table, game
            part = self._parts.get(key) or self._begin(key)
            line = json.dumps(row, separators=(",", ":"))
            part.file.write(line + "\n")
            part.rows += 1
            part.size += len(line)
            if part.rows >= self.part_rows or part.size >= self.part_characters:
                self._complete(key)

    def _begin(self, key: tuple[str, str]) -> _Part:
        table, game = key
        number = self._numbers[key] = self._numbers.get(key, -1) + 1
        folder = self.folder / table / f"game={game}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"part-{number:05}.{self.form}"
        writing = path.with_name(path.name + ".writing")
        part = _Part(self._files.enter_context(writing.open("w", encoding="utf-8")), path)
        self._parts[key] = part
        return part

    def _complete(self, key: tuple[str, str]) -> None:
        part = self._parts.pop(key)
        part.file.close()
        writing = Path(part.file.name)
        if self.form == "jsonl":
            writing.rename(part.path)
            return
        columns = dict(COLUMNS[key[0]])
        if self.with_numbers and key[0] == "decisions":
            columns |= NUMBERS
        _write_parquet(writing, part.path, {name: kind for name, (kind, _) in columns.items()})
        writing.unlink()


def _write_parquet(lines: Path, path: Path, columns: Mapping[str, str]) -> None:
    import duckdb

    made = path.with_name(f"{path.name}.making")
    with duckdb.connect(config={"memory_limit": MEMORY, "threads": 1}) as connection:
        connection.read_json(
            str(lines), format="newline_delimited", columns=dict(columns)
        ).write_parquet(str(made), compression="zstd", row_group_size=20_480)
    made.rename(path)
