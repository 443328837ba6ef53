"""An organiser's plan of a competition, read from a TOML file.

    name = "autumn"
    kind = "tournament"
    format = "swiss"
    game = "klaberjass"
    seats = 2
    deal_sets = 20
    seed = "autumn 2026"
    options = { hands = 4 }

    [swiss]
    rounds = 7

    [bots]                                   # bots that the arena launches itself
    ann = "python ann.py"
    bob = { command = "./bob", owner = "team bob" }

Several games are tables `[[games]]` with the keys of a `GamePlan`. What a game leaves out is taken from
the same key at the top of the file.
"""

import datetime as dt
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias

from arena.contests.knockout_decision import LEAST, MOST
from arena.contests.timetable import CROSS_TABLES, DailyHours, Rate
from arena.games.catalogue import game_by_id
from arena.games.options import require_equal_deals
from arena.referee.deal import first_pack
from arena.referee.terms import TIME_CLASSES, GameId, MatchTerms, TimeControl, time_odds
from arena.results.deal_sets import digest
from arena.validation import (
    NOT_EMPTY,
    STRICT,
    Constraint,
    InvalidInput,
    Limits,
    no_such_key,
    toml_values,
    validated,
)

if TYPE_CHECKING:
    from pydantic import ValidationInfo

    PlanInfo: TypeAlias = ValidationInfo[Mapping[str, Any]]
    """With the values of the file as its context."""

MAX_DEAL_SETS: Final = 1_000_000
_NAME: Final = re.compile("[a-z0-9_.-]{1,80}")


class PlanError(InvalidInput):
    """A file is not the plan of a competition."""


class CompetitionKind(StrEnum):
    """Whether a competition ends by itself."""

    LADDER = "ladder"
    TOURNAMENT = "tournament"


class Format(StrEnum):
    """Who meets whom in a tournament."""

    ROUND_ROBIN = "round_robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    GROUPS = "groups"


DRAWN_FROM_RESULTS: Final = frozenset({Format.SWISS, Format.KNOCKOUT, Format.GROUPS})
"""Formats in which a round depends on the results of earlier rounds."""


class LadderRow(StrEnum):
    """What has a row in the standings of a ladder."""

    NEWEST = "newest"
    """The current version of a bot; it starts with no deal-sets."""
    ALL_VERSIONS = "all_versions"
    """All versions of a bot as one player."""


class EntryPolicy(StrEnum):
    """Whose bots may take part."""

    OPEN = "open"
    INVITED = "invited"


class SandboxLevel(StrEnum):
    """The weakest sandbox in which the arena may launch bots of a competition."""

    S3 = "S3"
    S2 = "S2"
    S1 = "S1"


# Checks of fields. The context is the values of the file, because some checks depend on its top keys.


def _time_class(given: object, _: object) -> object:
    """Return the fields of a time class that is named; return anything else unchanged."""
    if not isinstance(given, str):
        return given
    if given not in TIME_CLASSES:
        raise ValueError(
            f"there is no time class {given!r}: {', '.join(TIME_CLASSES)} or a table of times"
        )
    return asdict(TIME_CLASSES[given])


def _time_control(given: Mapping[str, int], _: object) -> Mapping[str, int]:
    known = [field.name for field in fields(TimeControl)]
    for name in given:
        if name not in known:
            raise ValueError(no_such_key(name, known))
    TimeControl(**given)  # raises if the times are not valid
    return given


def _time_odds(given: Mapping[str, float], _: object) -> Mapping[str, float]:
    time_odds(given)  # raises if a share is not valid
    return given


def _seats(seats: int, info: "PlanInfo") -> int:
    if seats != 2 and info.context["format"] == Format.KNOCKOUT and info.context[Format.KNOCKOUT]:
        raise ValueError(
            "should be 2 where there is a table [knockout]; of larger tables the upper half advances"
        )
    return seats


def _deal_sets(deal_sets: int, info: "PlanInfo") -> int:
    kind, format_ = info.context.get("kind"), info.context.get("format")
    if kind == CompetitionKind.LADDER and deal_sets:
        raise ValueError("a ladder has none: it ends when it closes")
    if kind == CompetitionKind.TOURNAMENT:
        if format_ == Format.KNOCKOUT and info.data.get("seats") == 2:
            if deal_sets:
                raise ValueError(
                    "a knockout of two seats has none: a game ends when it is decided, or after "
                    "most_deal_sets of its table"
                )
        elif format_ in list(Format) and not deal_sets:
            raise ValueError("should be 1 or more: how many deal-sets every group plays")
    return deal_sets


def _name(name: str, _: object) -> str:
    if not _NAME.fullmatch(name):
        must = "1 to 80 lower-case letters, digits, dashes, underscores and dots"
        raise ValueError(f"should be {must}, not {name[:100]!r}")
    return name


def _playable(game: "GamePlan", _: object) -> "GamePlan":
    terms = game.terms
    first_pack(terms.game.rules, terms.options, terms.seats)  # raises what only the rules can check
    return game


def _distinct(games: tuple["GamePlan", ...], _: object) -> tuple["GamePlan", ...]:
    names = [game.name for game in games]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} seats is given twice")
    return games


def _format(format_: Format | None, info: "PlanInfo") -> Format | None:
    kind = info.data.get("kind")
    if kind is CompetitionKind.LADDER and format_:
        raise ValueError("a ladder has none: it pairs by itself, until it closes")
    if kind is CompetitionKind.TOURNAMENT and not format_:
        raise ValueError(f"is missing: one of {', '.join(Format)}")
    for other in Format:
        if other in info.context and other != format_:
            raise ValueError(f"is {format_ or 'not given'}, and there is a table [{other}]")
    return format_


def _of_games(bots: Mapping[str, "LaunchedBot"], info: "PlanInfo") -> Mapping[str, "LaunchedBot"]:
    known = [game.game for game in info.data.get("games", ())]
    for name, bot in bots.items():
        if known and (other := [game for game in bot.games if game not in known]):
            raise ValueError(f"{name} plays {other[0]}, which is no game of this competition")
    return bots


def _command_alone(given: Any, _: object) -> Any:
    """Return a command as a table; its lists become tuples, as a checked field expects them."""
    if not isinstance(given, Mapping):
        return {"command": given} if isinstance(given, str) else given
    return {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}


def _rate(rate: Rate, info: "PlanInfo") -> Rate:
    if rate != Rate() and info.data.get("kind") is CompetitionKind.TOURNAMENT:
        raise ValueError("is for ladders: a tournament plays what is drawn")
    seats = [game.seats for game in info.data.get("games", ())]
    most = max([CROSS_TABLES, *seats])
    if rate.matches_an_hour is not None and rate.matches_an_hour < most:
        raise ValueError(
            f"matches_an_hour should be {most} or more, as a deal-set may have so many"
        )
    return rate


def _of_ladder(terms: "LadderTerms", info: "PlanInfo") -> "LadderTerms":
    if terms != LadderTerms() and info.data.get("kind") is CompetitionKind.TOURNAMENT:
        raise ValueError("is for ladders")
    return terms


def _teams(teams: tuple[tuple[str, ...], ...], _: object) -> tuple[tuple[str, ...], ...]:
    owners = [owner for team in teams for owner in team]
    for owner in owners:
        if owners.count(owner) > 1:
            raise ValueError(f"{owner} is there twice")
    return teams


def _closes(closes: dt.datetime, info: "PlanInfo") -> dt.datetime:
    opens = info.data.get("opens")
    if opens and opens >= closes:
        raise ValueError(f"is {closes}, and it opens no earlier: at {opens}")
    return closes


Moment = Annotated[dt.datetime, Limits(tz_constraint="aware")]
"""A date and time with its zone."""


@dataclass(frozen=True)
class GamePlan:
    """One game of a competition."""

    game: GameId
    seats: Annotated[int, Limits(ge=2, le=100), Constraint(_seats)]
    options: Mapping[str, Any] = field(default_factory=dict)
    time_control: Annotated[
        Mapping[str, int], Constraint(_time_class, first=True), Constraint(_time_control)
    ] = field(default_factory=dict)
    """The fields of a `TimeControl` that differ from the default."""
    time_odds: Annotated[Mapping[str, float], Constraint(_time_odds)] = field(default_factory=dict)
    """The share of the time control that a bot has, by its name without a version; others have all of it."""
    deal_sets: Annotated[int, Limits(ge=0, le=MAX_DEAL_SETS), Constraint(_deal_sets)] = 0
    """The number of deal-sets of each group; 0 for ladders and for knockouts of two, which end by other rules."""
    fair: bool = True
    """Whether deals are fair; otherwise they follow from the seed of the competition."""

    @property
    def name(self) -> str:
        return f"{self.game} of {self.seats}"

    @cached_property
    def terms(self) -> MatchTerms:
        """The terms of all matches.

        Raises:
          BadOptions: if the game cannot be played with these options or seats, or not all would deal equally often.
        """
        game = game_by_id(self.game)
        options = game.options(self.options, self.seats)
        require_equal_deals(self.seats, options.hands)  # a competition is rated
        control = TimeControl(**self.time_control)
        odds = time_odds(self.time_odds)
        return MatchTerms(game, options, self.seats, control, seeded=not self.fair, time_odds=odds)


@dataclass(frozen=True, slots=True)
class RoundRobinTerms:
    """The table `[round_robin]`."""

    max_groups: Annotated[int, Limits(ge=1, le=100_000)] | None = None
    """The maximal number of groups of a round."""


@dataclass(frozen=True, slots=True)
class GauntletTerms:
    """The table `[gauntlet]`."""

    challenger: Annotated[str, NOT_EMPTY]
    """The bot that meets all others."""


@dataclass(frozen=True, slots=True)
class SwissTerms:
    """The table `[swiss]`."""

    rounds: Annotated[int, Limits(ge=1, le=1_000)] | None = None
    """The number of rounds; None for as many as the number of bots needs."""


@dataclass(frozen=True, slots=True)
class KnockoutTerms:
    """The table `[knockout]`, of two seats."""

    double: bool = False
    """Whether two losses are needed to be out."""
    most_deal_sets: Annotated[int, Limits(ge=LEAST, le=MAX_DEAL_SETS)] = MOST
    """The number of deal-sets of a game after which points decide."""


@dataclass(frozen=True, slots=True)
class GroupsTerms:
    """The table `[groups]`: groups, then finals."""

    groups: Annotated[int, Limits(ge=1, le=1_000)]
    best: Annotated[int, Limits(ge=1, le=1_000)]
    """The number of bots of each group that advance."""


@dataclass(frozen=True, slots=True)
class LadderTerms:
    """The table `[ladder]`."""

    row: LadderRow = LadderRow.NEWEST
    """What has a row in its standings."""
    finals_deal_sets: Annotated[int, Limits(ge=1, le=MAX_DEAL_SETS)] = 8
    """The number of deal-sets of each group in the finals, which make its official standings."""


@dataclass(frozen=True, slots=True)
class LaunchedBot:
    """A bot that the arena starts by a command."""

    command: Annotated[str, NOT_EMPTY]
    owner: str = ""
    """The owner; if empty, the bot's own name."""
    games: tuple[GameId, ...] = ()
    """The games that it enters; if there are none, the arena asks the bot when play starts."""
    start_s: Annotated[int, Limits(ge=1, le=3_600)] | None = None
    """The longest time in seconds from its launch to its hello; None for the default of the arena."""


@dataclass(frozen=True, slots=True)
class CompetitionPlan:
    """A valid plan of a competition."""

    __pydantic_config__: ClassVar = STRICT
    __more_keys__: ClassVar = tuple(column.name for column in fields(GamePlan))

    name: Annotated[str, Constraint(_name)]
    kind: CompetitionKind
    games: Annotated[
        tuple[Annotated[GamePlan, Constraint(_playable)], ...], NOT_EMPTY, Constraint(_distinct)
    ]
    """Several games have their own standings, and overall ones."""
    format: Annotated[Format | None, Constraint(_format)] = None
    """None for a ladder."""
    round_robin: RoundRobinTerms = field(default_factory=RoundRobinTerms)
    gauntlet: GauntletTerms | None = None
    """None except in a gauntlet."""
    swiss: SwissTerms = field(default_factory=SwissTerms)
    knockout: KnockoutTerms = field(default_factory=KnockoutTerms)
    groups: GroupsTerms | None = None
    """None except in groups."""
    ladder: Annotated[LadderTerms, Constraint(_of_ladder)] = field(default_factory=LadderTerms)
    bots: Annotated[
        Mapping[str, Annotated[LaunchedBot, Constraint(_command_alone, first=True)]],
        Constraint(_of_games),
    ] = field(default_factory=dict)
    """Bots that the arena launches itself, by name."""
    opens: Moment | None = None
    """The time before which nothing is drawn, and bots may enter."""
    closes: Annotated[Moment, Constraint(_closes)] | None = None
    """The time after which no deal-set begins, and the competition finishes."""
    daily: DailyHours | None = None
    """The hours of play; None for the whole day."""
    rate: Annotated[Rate, Constraint(_rate)] = field(default_factory=Rate)
    entry: EntryPolicy = EntryPolicy.OPEN
    max_bots_per_owner: Annotated[int, Limits(ge=1, le=100)] = 2
    teams: Annotated[tuple[Annotated[tuple[str, ...], NOT_EMPTY], ...], Constraint(_teams)] = ()
    """Owners that play together: their bots are treated as those of one owner."""
    sandbox: SandboxLevel | None = None
    """None for the level of the running arena."""
    pondering: bool = False
    """Whether submitted bots may compute while nothing is asked of them; otherwise they are frozen, at level S3."""
    speed_class: Annotated[int, Limits(ge=-50, le=50)] | None = None
    """The speed class of the workers on other machines that play it; None for the arena's own machine."""
    seed: str = ""
    """The seed of all draws, and of the deals of games that are not fair; empty for a random one."""
    seeds_from: str = ""
    """The competition by whose official standings the bots are seeded; empty if the seeds are drawn."""
    season: str = ""

    def is_closed(self, now: dt.datetime) -> bool:
        return self.closes is not None and now >= self.closes

    def team_of(self, owner: str) -> str:
        """Return the first owner of the team of an owner, or the owner itself without a team."""
        return next((team[0] for team in self.teams if owner in team), owner)

    def part(self, game: int) -> str:
        """Return the name of a game's part of the competition, which ids of its deal-sets depend on."""
        return f"{self.name}/{self.games[game].name}"

    def seed_of(self, game: int) -> str:
        """Return the seed of a game's draws, as several games have different boards."""
        return self.seed if len(self.games) == 1 else digest(self.seed, self.games[game].name)

    def why_not_played(self, now: dt.datetime) -> str:
        """Return why no deal-set may begin now; empty if one may."""
        if self.is_closed(now):
            return f"it closed at {self.closes}"
        if self.opens is not None and now < self.opens:
            return f"it opens at {self.opens}"
        return "" if self.daily is None or self.daily.has(now) else f"it is played {self.daily}"

    @property
    def timetable(self) -> str:
        """Return the hours and the rate of play, in words; empty if neither is limited."""
        return ", ".join(filter(None, (str(self.daily or ""), str(self.rate))))


def entered_games(plan: CompetitionPlan, declares: Callable[[MatchTerms], bool]) -> tuple[int, ...]:
    """Return the numbers of the games that a bot enters: those whose terms it declares."""
    return tuple(number for number, game in enumerate(plan.games) if declares(game.terms))


def entered_names(plan: CompetitionPlan, games: Collection[int] | None) -> tuple[str, ...]:
    """Return the names of the games that a bot enters, such as `soko of 4`; none if it has not declared any."""
    return tuple(plan.games[number].name for number in games or ())


def read_plan(text: str) -> CompetitionPlan:
    """Read a plan from TOML. Raises `PlanError` with all problems."""
    file = toml_values(text, PlanError)
    at_top = {key.name: file.pop(key.name) for key in fields(GamePlan) if key.name in file}
    place = "" if "games" in file else "games[0]"  # at the top of the file
    games = file.setdefault("games", [{}])
    if isinstance(games, list):
        file["games"] = [at_top | game if isinstance(game, dict) else game for game in games]
    if file.setdefault("format", None) in list(Format):
        file.setdefault(file["format"], {})  # so that a missing required key is a problem
    try:
        return validated(CompetitionPlan, file, PlanError, context=file)
    except PlanError as error:
        problems = [problem.removeprefix(place).lstrip(".: ") for problem in error.problems]
        raise PlanError(problems) from None
