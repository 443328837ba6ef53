"""The record of a competition: everything that its draws and standings are computed from.

It depends on no games and no files: the plan is the organiser's text, and outcomes are by match id.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Final

from arena.results.deal_sets import (
    DealSet,
    DealSetShape,
    DealSetState,
    Group,
    MatchOutcome,
    MatchPlan,
    digest,
    is_complete,
)

FINALS: Final = "-finals-"
"""The text between the name of a ladder and the number of its finals, in the name of the finals."""


class Out(StrEnum):
    """The reason why a bot is out of a competition."""

    WITHDRAWN = "withdrawn"
    """Its owner withdrew it; its results count."""
    DISQUALIFIED = "disqualified"
    """An organiser disqualified it; its deal-sets do not count."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot that entered a competition."""

    name: str
    owner: str
    seed: int
    """Its rank before the first round, from 1."""
    version: str = ""
    """A registered version, as `ann@7`, or an identifier of the contents of the bot; empty if unknown."""
    out: Out | None = None
    out_after: Mapping[int, int] = field(default_factory=dict)
    """The number of drawn rounds when it went out, by number of the game."""
    reason: str = ""
    games: tuple[int, ...] | None = None
    """The numbers of the plan's games that it enters; None if it has not declared any, and enters all."""
    present_ms: int = 0
    """Ladders: how long it was connected, in milliseconds. Official standings and exports do not have it."""

    def enters(self, game: int) -> bool:
        """Return whether it enters a game of the plan."""
        return self.games is None or game in self.games

    def is_in(self, game: int, round_number: int) -> bool:
        """Return whether it takes part in the draw of a round."""
        return self.out is None or round_number <= self.out_after.get(game, 0)


@dataclass(frozen=True, slots=True)
class Round:
    """The groups of a round, stored before the first card."""

    number: int
    """From 1."""
    groups: tuple[Group, ...]
    """In order of strength; within a group in order of name."""
    byes: Group
    """Bots without a group, which get points for it."""
    inputs_sha256: str
    """The hash of all inputs of the draw."""


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A round with its deal-sets and the outcomes so far."""

    round: Round
    deal_sets: tuple[DealSet, ...]
    """Without void ones."""
    outcomes: Mapping[str, MatchOutcome] = field(default_factory=dict)
    """The outcomes of all matches of the game, by id; none when the round is drawn."""
    last_number: int = 0
    """The highest number of its deal-sets, with void ones."""

    def of_group(self, group: Sequence[str]) -> tuple[DealSet, ...]:
        """Return the complete deal-sets between bots of a group, in order."""
        members = set(group)
        return tuple(
            deal_set
            for deal_set in self.deal_sets
            if members.issuperset(deal_set.bots) and is_complete(deal_set, self.outcomes)
        )


@dataclass(frozen=True, slots=True)
class GameRecord:
    """The rounds, deal-sets and outcomes of one game."""

    rounds: tuple[Round, ...] = ()
    deal_sets: tuple[DealSet, ...] = ()
    """In order of number."""
    outcomes: Mapping[str, MatchOutcome] = field(default_factory=dict)
    """By match id, with aborted ones."""

    def past(self, before: int | None = None) -> tuple[RoundRecord, ...]:
        """Return the rounds with their outcomes, all or those before a number."""
        of_round: dict[int, list[DealSet]] = defaultdict(list)
        for deal_set in self.deal_sets:
            of_round[deal_set.round].append(deal_set)
        return tuple(
            RoundRecord(
                round_,
                tuple(deal_set for deal_set in of_round[round_.number] if not deal_set.is_void),
                self.outcomes,
                max((deal_set.number for deal_set in of_round[round_.number]), default=0),
            )
            for round_ in self.rounds
            if before is None or round_.number < before
        )

    @property
    def open(self) -> tuple[DealSet, ...]:
        """Deal-sets that are still to be played or reported."""
        return tuple(deal_set for deal_set in self.deal_sets if deal_set.is_open)


@dataclass(frozen=True, slots=True)
class CompetitionRecord:
    """A competition with all rounds, deal-sets and outcomes."""

    config: str
    """The organiser's TOML."""
    candidates: tuple[Candidate, ...]
    """All bots that entered, in order of seed."""
    games: tuple[GameRecord, ...]
    """In the order of the plan."""

    @property
    def disqualified(self) -> frozenset[str]:
        """Bots whose deal-sets do not count."""
        return frozenset(
            candidate.name for candidate in self.candidates if candidate.out is Out.DISQUALIFIED
        )

    @property
    def inputs_sha256(self) -> str:
        """The hash of all inputs of the standings."""
        return digest(record_json(self))


@dataclass(frozen=True, slots=True)
class PlayedCount:
    """Numbers of deal-sets and of their matches."""

    deal_sets: int
    matches: int

    def __add__(self, other: "PlayedCount") -> "PlayedCount":
        return PlayedCount(self.deal_sets + other.deal_sets, self.matches + other.matches)


@dataclass(frozen=True, slots=True)
class WorkerBegins:
    """The begins of a game's deal-sets at workers."""

    played: Mapping[str, str]
    """The worker that reported each complete deal-set, by the deal-set's id."""
    failed: Mapping[str, tuple[str, ...]]
    """The workers at which begins of a deal-set failed, in order, by the deal-set's id."""


# Records as JSON values, which are exported and hashed.


def record_json(record: CompetitionRecord) -> list[object]:
    """Return the parts of a record in order: the head, then each complete deal-set."""
    return [header_json(record), *(deal_set_json(*row) for row in counting(record))]


def header_json(record: CompetitionRecord) -> dict[str, object]:
    """Return the plan, the entrants and the rounds."""
    return {
        "config": record.config,
        "entrants": [
            {name: getattr(candidate, name) for name in _OF_CANDIDATE}
            | {
                "out": candidate.out and str(candidate.out),
                "out_after": sorted(candidate.out_after.items()),
            }
            for candidate in record.candidates
        ],
        "rounds": [[asdict(round_) for round_ in game.rounds] for game in record.games],
    }


_OF_CANDIDATE: Final = tuple(
    field.name for field in fields(Candidate) if field.name != "present_ms"
)
"""The fields of a candidate in a record."""


def counting(
    record: CompetitionRecord,
) -> tuple[tuple[int, DealSet, Mapping[str, MatchOutcome]], ...]:
    """Return the complete deal-sets of every game, each with its game's number and its outcomes."""
    return tuple(
        (number, deal_set, game.outcomes)
        for number, game in enumerate(record.games)
        for deal_set in game.deal_sets
        if not deal_set.is_void and is_complete(deal_set, game.outcomes)
    )


def deal_set_json(
    game: int, deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]
) -> dict[str, object]:
    """Return a complete deal-set with its tables and their outcomes."""
    return {
        "game": game,
        "deal_set": deal_set.id,
        "number": deal_set.number,
        "round": deal_set.round,
        "shape": str(deal_set.shape),
        "bots": list(deal_set.bots),
        "draw_sha256": deal_set.inputs_sha256,
        "tables": [
            {
                "match": match.id,  # also the replay's
                "rotation": match.rotation,
                "bots": list(match.bots),
                **{name: getattr(outcome, name) for name in _OF_OUTCOME},
                "faults": [dict(sorted(counts.items())) for counts in outcome.faults],
            }
            for match in deal_set.matches
            for outcome in (outcomes[match.id],)
        ],
    }


_OF_OUTCOME: Final = (
    "scores",
    "places",
    "ending",
    "faults",
    "forfeited",
    "fallback_share",
    "hands",
    "decisions",
)
"""The fields of an outcome in a record."""


class Unreadable(ValueError):
    """An exported record cannot be read; the text says where."""


def record_of_json(header: Mapping[str, object], deal_sets: Sequence[object]) -> CompetitionRecord:
    """Read an exported record. Raises `Unreadable` naming the first invalid line."""
    try:
        record = _header(header)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"the first line is not the head of a competition: {error!r}") from error
    games = list(record.games)
    for number, line in enumerate(deal_sets, 2):
        try:
            at, deal_set, outcomes = _deal_set(line)
            game = games[at]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise Unreadable(f"line {number} is not a deal-set: {error!r}") from error
        games[at] = replace(
            game, deal_sets=(*game.deal_sets, deal_set), outcomes={**game.outcomes, **outcomes}
        )
    return replace(record, games=tuple(games))


def _header(given: Mapping[str, object]) -> CompetitionRecord:
    head: dict[str, object] = dict(given)
    entrants, rounds = head["entrants"], head["rounds"]
    assert isinstance(entrants, list)
    assert isinstance(rounds, list)
    config = head["config"]
    if not isinstance(config, str):
        raise TypeError("the plan is not a text")
    return CompetitionRecord(
        config,
        tuple(
            Candidate(
                entrant["name"],
                entrant["owner"],
                entrant["seed"],
                entrant["version"],
                Out(entrant["out"]) if entrant["out"] else None,
                {int(game): int(number) for game, number in entrant["out_after"]},
                entrant["reason"],
                None if entrant["games"] is None else tuple(entrant["games"]),
            )
            for entrant in entrants
        ),
        tuple(GameRecord(tuple(map(_round, game))) for game in rounds),
    )


def _round(given: Mapping[str, Any]) -> Round:
    groups = tuple(tuple(group) for group in given["groups"])
    return Round(given["number"], groups, tuple(given["byes"]), given["inputs_sha256"])


def _deal_set(line: object) -> tuple[int, DealSet, dict[str, MatchOutcome]]:
    if not isinstance(line, dict):
        raise TypeError("it is not an object")
    tables = line["tables"]
    deal_set = DealSet(
        id=line["deal_set"],
        number=line["number"],
        bots=tuple(line["bots"]),
        seed="",
        matches=tuple(
            MatchPlan(table["match"], line["deal_set"], table["rotation"], tuple(table["bots"]))
            for table in tables
        ),
        round=line["round"],
        shape=DealSetShape(line["shape"]),
        state=DealSetState.COMPLETE,
        inputs_sha256=line["draw_sha256"],
    )
    return line["game"], deal_set, {table["match"]: _outcome(table) for table in tables}


def _outcome(table: Mapping[str, Any]) -> MatchOutcome:
    values: dict[str, Any] = {
        name: tuple(table[name]) if isinstance(table[name], list) else table[name]
        for name in _OF_OUTCOME
    }
    return MatchOutcome(table["match"], **values)
