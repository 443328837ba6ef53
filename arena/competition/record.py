"""All that a competition has come to: what its draws and its tables are functions of.

It knows no games and no files: the plan is the text that the organiser wrote, and results are by match.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from arena.competition.rounds import Entrant, Round
from arena.ladder.draws import digest
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan, MatchPlan


class Shape(StrEnum):
    """How a deal-set seats its bots."""

    ROTATION = "rotation"
    """Each bot has every seat once."""
    CROSS = "cross"
    """Each bot sees each board once: for bots whose owners could compare notes."""


class Out(StrEnum):
    """Why a bot is not in any more."""

    WITHDRAWN = "withdrawn"
    """Its owner took it out; what it played counts."""
    DISQUALIFIED = "disqualified"
    """An organiser did; its deal-sets count for nobody."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot that entered a competition."""

    name: str
    owner: str
    seed: int
    """Its rank before the first round, from 1."""
    version: str = ""
    """Tells what plays from what played before; empty if that is not known."""
    out: Out | None = None
    out_after: Mapping[int, int] = field(default_factory=dict)
    """Rounds that were drawn when it went out, by number of the game."""
    reason: str = ""

    def is_in(self, game: int, round_number: int) -> bool:
        """Whether it takes part in the draw of a round."""
        return self.out is None or round_number <= self.out_after.get(game, 0)

    @property
    def entrant(self) -> Entrant:
        """As rounds are drawn from."""
        return Entrant(self.name, self.owner, self.seed)


@dataclass(frozen=True, slots=True)
class DrawnDealSet:
    """A deal-set as it was drawn and kept before play."""

    plan: DealSetPlan
    round: int = 0
    """The round it belongs to; 0 on a ladder."""
    shape: Shape = Shape.ROTATION
    void: bool = False
    """Whether it will not be played, as a bot of it went out before."""
    inputs_sha256: str = ""
    """Of all that a ladder's draw was made from."""
    reported: bool = True
    """Whether it was said to be whole, once it was: a stop may come between."""


@dataclass(frozen=True, slots=True)
class RoundPlayed:
    """A round with its deal-sets, as far as they were played."""

    round: Round
    deal_sets: tuple[DealSetPlan, ...]
    """Without those that are void."""
    outcomes: Mapping[str, MatchOutcome]
    """Of all matches of the game, by id."""
    last_number: int = 0
    """Of its deal-sets, those that are void among them."""

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
    """What was drawn and played of one game."""

    rounds: tuple[Round, ...] = ()
    deal_sets: tuple[DrawnDealSet, ...] = ()
    """In order of number."""
    outcomes: Mapping[str, MatchOutcome] = field(default_factory=dict)
    """By match id; aborted ones may be among them."""

    def past(self, before: int | None = None) -> tuple[RoundPlayed, ...]:
        """The rounds with what was played of them, all or those before a number."""
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
        """Deal-sets that are still to be played, whole or in part, or to be reported."""
        return tuple(
            each.plan
            for each in self.deal_sets
            if not each.void and not (each.reported and is_complete(each.plan, self.outcomes))
        )


@dataclass(frozen=True, slots=True)
class CompetitionRecord:
    """A competition with all that was drawn and played."""

    config: str
    """The organiser's TOML, as it was given."""
    candidates: tuple[Candidate, ...]
    """Everybody who entered, in order of seed."""
    games: tuple[GameRecord, ...]
    """In the order of the plan."""

    @property
    def disqualified(self) -> frozenset[str]:
        """Bots whose deal-sets count for nobody."""
        return frozenset(each.name for each in self.candidates if each.out is Out.DISQUALIFIED)

    @property
    def inputs_sha256(self) -> str:
        """Of all that a table is made from."""
        return digest(record_json(self))


def bot_of(player: str) -> str:
    """The bot of a player: each version of an uploaded bot, as `ann@7`, plays for itself."""
    return player.partition("@")[0]


def is_complete(deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome]) -> bool:
    """Whether every match of a deal-set has a result."""
    return all(match.id in outcomes and outcomes[match.id].has_result for match in deal_set.matches)


# As values that JSON holds: what is exported, and what is hashed.


def record_json(record: CompetitionRecord) -> list[object]:
    """The parts of a record in order: what was asked for, who entered, and each deal-set that counts."""
    return [header_json(record), *(deal_set_json(*each) for each in counting(record))]


def header_json(record: CompetitionRecord) -> dict[str, object]:
    """All but the deal-sets."""
    return {
        "config": record.config,
        "entrants": [
            {
                "name": each.name,
                "owner": each.owner,
                "seed": each.seed,
                "version": each.version,
                "out": each.out and str(each.out),
                "out_after": [[game, number] for game, number in sorted(each.out_after.items())],
                "reason": each.reason,
            }
            for each in record.candidates
        ],
        "rounds": [
            [
                {
                    "number": each.number,
                    "groups": [list(group) for group in each.groups],
                    "byes": list(each.byes),
                    "inputs_sha256": each.inputs_sha256,
                }
                for each in game.rounds
            ]
            for game in record.games
        ],
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
    """A complete deal-set: boards, tables, seats, versions, scores and faults."""
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
                "scores": list(outcome.scores),
                "places": list(outcome.places),
                "ending": outcome.ending,
                "faults": [dict(sorted(each.items())) for each in outcome.faults],
                "left": list(outcome.left),
                "fallback_share": list(outcome.fallback_share),
                "hands": outcome.hands,
                "decisions": outcome.decisions,
            }
            for match in plan.matches
            for outcome in (outcomes[match.id],)
        ],
    }


class Unreadable(ValueError):
    """What was exported cannot be read back; the text says where."""


def record_of_json(header: Mapping[str, object], deal_sets: Sequence[object]) -> CompetitionRecord:
    """The record that was exported.

    Raises:
      Unreadable: naming the part that is none.
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
        raise TypeError("the plan is no text")
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
            )
            for each in entrants
        ),
        tuple(
            GameRecord(
                tuple(
                    Round(
                        each["number"],
                        tuple(tuple(group) for group in each["groups"]),
                        tuple(each["byes"]),
                        each["inputs_sha256"],
                    )
                    for each in game
                )
            )
            for game in rounds
        ),
    )


def _deal_set(line: object) -> tuple[int, DrawnDealSet, dict[str, MatchOutcome]]:
    if not isinstance(line, dict):
        raise TypeError("it is no object")
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
    outcomes = {
        each["match"]: MatchOutcome(
            match_id=each["match"],
            scores=tuple(each["scores"]),
            places=tuple(each["places"]),
            ending=each["ending"],
            faults=tuple(each["faults"]),
            left=tuple(each["left"]),
            fallback_share=tuple(each["fallback_share"]),
            hands=each["hands"],
            decisions=each["decisions"],
        )
        for each in tables
    }
    drawn = DrawnDealSet(
        plan,
        line["round"],
        Shape(line["shape"]),
        inputs_sha256=line["draw_sha256"],
    )
    return line["game"], drawn, outcomes
