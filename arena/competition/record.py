"""The record of a competition: everything that its draws and standings are computed from.

It depends on no games and no files: the plan is the organiser's text, and outcomes are by match id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from arena.competition.rounds import Entrant, Round
from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, MatchPlan, digest, is_complete


class DealSetShape(StrEnum):
    """The seating of a deal-set."""

    ROTATION = "rotation"
    """Each bot has every seat once."""
    CROSS = "cross"
    """Each bot sees each board once, for bots whose owners could compare what they see."""


class Out(StrEnum):
    """Why a bot is out of a competition."""

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
    """A registered version, as `ann@7`, or what identifies the contents of the bot; empty if unknown."""
    out: Out | None = None
    out_after: Mapping[int, int] = field(default_factory=dict)
    """The number of drawn rounds when it went out, by number of the game."""
    reason: str = ""
    games: tuple[int, ...] | None = None
    """The numbers of the plan's games that it enters; None while it has not declared any, and enters all."""
    present_ms: int = 0
    """Ladders: how long it was connected, in milliseconds. Official standings and exports do not have it."""

    def enters(self, game: int) -> bool:
        """Whether it enters a game of the plan."""
        return self.games is None or game in self.games

    def is_in(self, game: int, round_number: int) -> bool:
        """Whether it takes part in the draw of a round."""
        return self.out is None or round_number <= self.out_after.get(game, 0)

    @property
    def entrant(self) -> Entrant:
        """The bot as an input of draws."""
        return Entrant(self.name, self.owner, self.seed)


@dataclass(frozen=True, slots=True)
class DrawnDealSet:
    """A deal-set as it was drawn and stored before play."""

    plan: DealSetPlan
    round: int = 0
    """The round it belongs to; 0 on a ladder."""
    shape: DealSetShape = DealSetShape.ROTATION
    void: bool = False
    """Whether it does not count: one of its bots went out before it began, or its worker was dropped."""
    inputs_sha256: str = ""
    """The hash of the inputs of a ladder's draw."""
    reported: bool = True
    """Whether it was reported as complete; the arena may stop between the last result and the report."""
    given_up: bool = False
    """Whether the arena could not finish it; it is played again after the next start."""


@dataclass(frozen=True, slots=True)
class RoundPlayed:
    """A round with its deal-sets and the outcomes so far."""

    round: Round
    deal_sets: tuple[DealSetPlan, ...]
    """Without void ones."""
    outcomes: Mapping[str, MatchOutcome]
    """The outcomes of all matches of the game, by id."""
    last_number: int = 0
    """The highest number of its deal-sets, with void ones."""

    def of_group(self, group: Sequence[str]) -> tuple[DealSetPlan, ...]:
        """The complete deal-sets between bots of a group, in order."""
        members = set(group)
        return tuple(
            each
            for each in self.deal_sets
            if members.issuperset(each.bots) and is_complete(each, self.outcomes)
        )


@dataclass(frozen=True, slots=True)
class GameRecord:
    """The rounds, deal-sets and outcomes of one game."""

    rounds: tuple[Round, ...] = ()
    deal_sets: tuple[DrawnDealSet, ...] = ()
    """In order of number."""
    outcomes: Mapping[str, MatchOutcome] = field(default_factory=dict)
    """By match id, with aborted ones."""

    def past(self, before: int | None = None) -> tuple[RoundPlayed, ...]:
        """The rounds with their outcomes, all or those before a number."""
        return tuple(
            RoundPlayed(
                each,
                tuple(
                    drawn.plan
                    for drawn in self.deal_sets
                    if drawn.round == each.number and not drawn.void
                ),
                self.outcomes,
                max((d.plan.number for d in self.deal_sets if d.round == each.number), default=0),
            )
            for each in self.rounds
            if before is None or each.number < before
        )

    @property
    def open(self) -> tuple[DealSetPlan, ...]:
        """Deal-sets that are still to be played or reported."""
        return tuple(
            each.plan
            for each in self.deal_sets
            if not each.void and not (each.reported and is_complete(each.plan, self.outcomes))
        )


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
        return frozenset(each.name for each in self.candidates if each.out is Out.DISQUALIFIED)

    @property
    def inputs_sha256(self) -> str:
        """The hash of all inputs of the standings."""
        return digest(record_json(self))


def bot_of(player: str) -> str:
    """The bot of a player, which is a version of an uploaded bot, such as `ann@7`, or the bot itself."""
    return player.partition("@")[0]


# Records as JSON values, which are exported and hashed.


def record_json(record: CompetitionRecord) -> list[object]:
    """The parts of a record in order: the head, then each complete deal-set."""
    return [header_json(record), *(deal_set_json(*each) for each in counting(record))]


def header_json(record: CompetitionRecord) -> dict[str, object]:
    """The plan, the entrants and the rounds."""
    return {
        "config": record.config,
        "entrants": [
            {name: value for name, value in asdict(each).items() if name != "present_ms"}
            | {"out": each.out and str(each.out), "out_after": sorted(each.out_after.items())}
            for each in record.candidates
        ],
        "rounds": [[asdict(each) for each in game.rounds] for game in record.games],
    }


def counting(
    record: CompetitionRecord,
) -> tuple[tuple[int, DrawnDealSet, Mapping[str, MatchOutcome]], ...]:
    """The complete deal-sets of every game, each with its game's number and its outcomes."""
    return tuple(
        (number, each, game.outcomes)
        for number, game in enumerate(record.games)
        for each in game.deal_sets
        if not each.void and is_complete(each.plan, game.outcomes)
    )


def deal_set_json(
    game: int, drawn: DrawnDealSet, outcomes: Mapping[str, MatchOutcome]
) -> dict[str, object]:
    """A complete deal-set with its tables and their outcomes."""
    plan = drawn.plan
    return {
        "game": game,
        "deal_set": plan.id,
        "number": plan.number,
        "round": drawn.round,
        "shape": str(drawn.shape),
        "bots": list(plan.bots),
        "draw_sha256": drawn.inputs_sha256,
        "tables": [
            {
                "match": match.id,  # also the replay's
                "rotation": match.rotation,
                "bots": list(match.bots),
                **{name: getattr(outcome, name) for name in _OF_OUTCOME},
                "faults": [dict(sorted(each.items())) for each in outcome.faults],
            }
            for match in plan.matches
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
    """Read an exported record.

    Raises:
      Unreadable: naming the first invalid line.
    """
    try:
        record = _header(header)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"the first line is not the head of a competition: {error!r}") from error
    games = list(record.games)
    for number, line in enumerate(deal_sets, 2):
        try:
            at, drawn, outcomes = _deal_set(line)
            game = games[at]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise Unreadable(f"line {number} is not a deal-set: {error!r}") from error
        games[at] = replace(
            game,
            deal_sets=(*game.deal_sets, drawn),
            outcomes={**game.outcomes, **outcomes},
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
                each["name"],
                each["owner"],
                each["seed"],
                each["version"],
                Out(each["out"]) if each["out"] else None,
                {int(game): int(number) for game, number in each["out_after"]},
                each["reason"],
                None if each["games"] is None else tuple(each["games"]),
            )
            for each in entrants
        ),
        tuple(GameRecord(tuple(map(_round, game))) for game in rounds),
    )


def _round(given: Mapping[str, Any]) -> Round:
    groups = tuple(tuple(group) for group in given["groups"])
    return Round(given["number"], groups, tuple(given["byes"]), given["inputs_sha256"])


def _deal_set(line: object) -> tuple[int, DrawnDealSet, dict[str, MatchOutcome]]:
    if not isinstance(line, dict):
        raise TypeError("it is not an object")
    tables = line["tables"]
    plan = DealSetPlan(
        id=line["deal_set"],
        number=line["number"],
        bots=tuple(line["bots"]),
        seed="",
        matches=tuple(
            MatchPlan(each["match"], line["deal_set"], each["rotation"], tuple(each["bots"]), "")
            for each in tables
        ),
    )
    outcomes = {each["match"]: _outcome(each) for each in tables}
    drawn = DrawnDealSet(
        plan,
        line["round"],
        DealSetShape(line["shape"]),
        inputs_sha256=line["draw_sha256"],
    )
    return line["game"], drawn, outcomes


def _outcome(table: Mapping[str, Any]) -> MatchOutcome:
    values: dict[str, Any] = {
        name: tuple(table[name]) if isinstance(table[name], list) else table[name]
        for name in _OF_OUTCOME
    }
    return MatchOutcome(table["match"], **values)
