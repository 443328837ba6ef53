"""What an organiser asks for: a competition as a TOML file, read with nothing left unsaid.

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

Several games are several tables `[[games]]` with `game`, `seats`, `options`, `time_control` and `deal_sets`
of their own; what they leave out is as it stands above.

An unknown key is an error, as is one that the format does not have: an organiser who misspells a limit
must not find out after the last round. All that is wrong is told at once.
"""

import datetime as dt
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final

from arena.competition.formats.decided import LEAST, MOST
from arena.competition.toml_checks import (
    Check,
    number,
    one_of,
    problems_of,
    said,
    table,
    text,
    yes_or_no,
)
from arena.deal import first_pack
from arena.games.catalogue import BadOptions, UnknownGame, game_by_id
from arena.terms import MatchTerms, TimeControl

MAX_DEAL_SETS: Final = 1_000_000
MAX_NAME: Final = 80
_NAME_SIGNS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")


class Kind(StrEnum):
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


class Entry(StrEnum):
    """Whose bots may take part."""

    OPEN = "open"
    INVITED = "invited"


class Jail(StrEnum):
    """The least that bots which the arena launches are locked up by."""

    S3 = "S3"
    S2 = "S2"
    S1 = "S1"


@dataclass(frozen=True, slots=True)
class FormatTerms:
    """What only some formats have; None or empty where the format has it not."""

    max_groups: int | None = None
    """Round robin: groups of a round, where there are more."""
    challenger: str = ""
    """Gauntlet: who meets all others."""
    rounds: int | None = None
    """Swiss: None is as many as the field needs."""
    double: bool = False
    """Knockout: whether two losses are needed to be out."""
    most_deal_sets: int = MOST
    """Knockout: those of a game, after which points decide."""
    groups: int = 0
    """Groups and finals: how many groups."""
    best: int = 0
    """Groups and finals: how many of each group go on."""


@dataclass(frozen=True, slots=True)
class GamePlan:
    """One game of a competition."""

    terms: MatchTerms
    """What every match is played by."""
    deal_sets: int = 0
    """Of each group that meets; 0 for ladders and for knockouts of two, which end otherwise."""

    @property
    def name(self) -> str:
        """Names the game's part of the competition."""
        return f"{self.terms.game.id} of {self.terms.seats}"


@dataclass(frozen=True, slots=True)
class LaunchedBot:
    """A bot that the arena starts by a command."""

    name: str
    command: str
    owner: str
    """Its own name, unless the file says whose it is."""


@dataclass(frozen=True, slots=True)
class CompetitionPlan:
    """A competition, as it was asked for and may be begun."""

    name: str
    kind: Kind
    games: tuple[GamePlan, ...]
    """What is played; several games have a table each, and one overall."""
    seed: str
    """Of all draws, and of the deals where these are seeded."""
    format: Format | None = None
    """None for a ladder."""
    format_terms: FormatTerms = field(default_factory=FormatTerms)
    bots: tuple[LaunchedBot, ...] = ()
    """Those that the arena launches itself, in order of name."""
    opens: dt.datetime | None = None
    closes: dt.datetime | None = None
    entry: Entry = Entry.OPEN
    max_bots_per_owner: int = 2
    jail: Jail | None = None
    """The least for all that is launched; None leaves it to who starts the arena."""
    seeds_from: str = ""
    """The competition by whose official table the bots are seeded; empty if they are drawn."""
    season: str = ""

    @property
    def terms(self) -> MatchTerms:
        """What the matches of the first game are played by."""
        return self.games[0].terms

    @property
    def deal_sets(self) -> int:
        """Deal-sets of each group of the first game."""
        return self.games[0].deal_sets


class PlanError(ValueError):
    """The file asks for no competition that can be held; each problem is a sentence."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems: Final = tuple(problems)


def read_plan(text: str) -> CompetitionPlan:
    """The competition that a TOML file asks for.

    Raises:
      PlanError: with all that is wrong with it.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError([f"this is not TOML: {error}"]) from error
    return _Reader(values).plan()


def _name(value: Any) -> str:
    fits = isinstance(value, str) and 0 < len(value) <= MAX_NAME and set(value) <= _NAME_SIGNS
    return "" if fits else f"1 to {MAX_NAME} of a-z, 0-9, '-', '_' and '.'"


def _moment(value: Any) -> str:
    fits = isinstance(value, dt.datetime) and value.tzinfo is not None
    return "" if fits else "a date and time with a zone, such as 2026-12-01T18:00:00Z"


def _tables_of_games(value: Any) -> str:
    fits = isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    return "" if fits else "one or more tables [[games]]"


_OF_GAME: Final[Mapping[str, Check]] = {
    "game": text,
    "seats": number(2, 100),
    "options": table,
    "time_control": table,
    "deal_sets": number(1, MAX_DEAL_SETS),
}
"""The keys of one of several games; what is left out is as at the top of the file."""

_OF_BOT: Final[Mapping[str, Check]] = {"command": text, "owner": text}

_KEYS: Final[Mapping[str, Check]] = {
    "games": _tables_of_games,
    "bots": table,
    "fair": yes_or_no,
    "name": _name,
    "kind": one_of(Kind),
    "format": one_of(Format),
    "game": text,
    "seats": number(2, 100),
    "options": table,
    "time_control": table,
    "opens": _moment,
    "closes": _moment,
    "entry": one_of(Entry),
    "max_bots_per_owner": number(1, 100),
    "jail": one_of(Jail),
    "deal_sets": number(1, MAX_DEAL_SETS),
    "seed": text,
    "season": text,
    "seeds_from": text,
}

_REQUIRED: Final = ("name", "kind", "seed")

_OF_FORMAT: Final[Mapping[Format, Mapping[str, Check]]] = {
    Format.ROUND_ROBIN: {"max_groups": number(1, 100_000)},
    Format.GAUNTLET: {"challenger": text},
    Format.SWISS: {"rounds": number(1, 1_000)},
    Format.KNOCKOUT: {"double": yes_or_no, "most_deal_sets": number(LEAST, MAX_DEAL_SETS)},
    Format.GROUPS: {"groups": number(1, 1_000), "best": number(1, 1_000)},
}

_REQUIRED_OF_FORMAT: Final[Mapping[Format, Sequence[str]]] = {
    Format.GAUNTLET: ("challenger",),
    Format.GROUPS: ("groups", "best"),
}


class _Reader:
    """Reads one file, and gathers all that is wrong with it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._problems: list[str] = []

    def plan(self) -> CompetitionPlan:
        format_ = self._format()
        tables = {str(each) for each in Format}
        self._known({name: v for name, v in self._values.items() if name not in tables}, _KEYS, "")
        self._required(self._values, _REQUIRED, "")
        self._tables(tables, format_)
        games = [self._game(own, where, format_) for own, where in self._games()]
        self._distinct(games)
        bots = self._bots()
        self._times()
        if self._problems:
            raise PlanError(self._problems)
        given = self._values
        return CompetitionPlan(
            name=given["name"],
            kind=Kind(given["kind"]),
            games=tuple(each for each in games if each is not None),
            seed=given["seed"],
            format=format_,
            format_terms=FormatTerms(**given.get(str(format_), {})),
            bots=bots,
            opens=given.get("opens"),
            closes=given.get("closes"),
            entry=Entry(given.get("entry", Entry.OPEN)),
            max_bots_per_owner=given.get("max_bots_per_owner", 2),
            jail=Jail(given["jail"]) if "jail" in given else None,
            season=given.get("season", ""),
            seeds_from=given.get("seeds_from", ""),
        )

    def _games(self) -> list[tuple[Mapping[str, Any], str]]:
        """The keys of each game, and where they stand, as part of a sentence."""
        own = {name: v for name, v in self._values.items() if name in _OF_GAME}
        several = self._values.get("games")
        if several is None:
            self._required(own, ("game", "seats"), "")
            return [(own, "")]
        if _tables_of_games(several):
            return []
        found = []
        for nth, given in enumerate(several, 1):
            where = f"game {nth}: "
            self._known(given, _OF_GAME, where)
            self._required(own | given, ("game", "seats"), where)
            found.append((own | given, where))
        return found

    def _game(
        self, given: Mapping[str, Any], where: str, format_: Format | None
    ) -> GamePlan | None:
        self._length(given, where, format_)
        self._knockout_tables(given)
        terms = self._terms(given, where)
        return None if terms is None else GamePlan(terms, given.get("deal_sets", 0))

    def _distinct(self, games: Sequence[GamePlan | None]) -> None:
        names = [each.name for each in games if each is not None]
        for name in sorted({name for name in names if names.count(name) > 1}):
            self._problems.append(f"{name} seats is asked for twice")

    def _bots(self) -> tuple[LaunchedBot, ...]:
        given, found = self._values.get("bots", {}), []
        for name, value in given.items() if isinstance(given, dict) else ():
            own = {"command": value} if isinstance(value, str) else value
            where = f"[bots] {name}: "
            if not isinstance(own, dict):
                self._problems.append(f"{where}is a command, or a table with one")
                continue
            before = len(self._problems)
            self._known(own, _OF_BOT, where)
            self._required(own, ("command",), where)
            if len(self._problems) == before:
                found.append(LaunchedBot(name, str(own["command"]), str(own.get("owner", name))))
        return tuple(sorted(found, key=lambda each: each.name))

    def _known(self, given: Mapping[str, Any], keys: Mapping[str, Check], where: str) -> None:
        self._problems += problems_of(given, keys, where)

    def _required(self, given: Mapping[str, Any], names: Sequence[str], where: str) -> None:
        self._problems += [f"{where}{name} is missing" for name in names if name not in given]

    def _format(self) -> Format | None:
        given = self._values.get("format")
        return Format(given) if given in set(Format) else None

    def _tables(self, names: set[str], format_: Format | None) -> None:
        for name in sorted(names & self._values.keys()):
            if name != format_:
                self._problems.append(f"[{name}] is of the format {name}, and this is {format_}")
            elif isinstance(self._values[name], dict):
                self._known(self._values[name], _OF_FORMAT[Format(name)], f"[{name}]: ")
            else:
                self._problems.append(f"{name} is a table, not {said(self._values[name])}")
        if format_ is not None:
            own = self._values.get(str(format_), {})
            needed = _REQUIRED_OF_FORMAT.get(format_, ())
            self._required(own if isinstance(own, dict) else {}, needed, f"[{format_}]: ")

    def _length(self, given: Mapping[str, Any], where: str, format_: Format | None) -> None:
        kind, deal_sets = self._values.get("kind"), "deal_sets" in given
        if kind == Kind.LADDER:
            if "format" in self._values:
                self._problems.append("a ladder has no format: it pairs by itself, for good")
            if deal_sets:
                self._problems.append("a ladder has no deal_sets: it ends when it closes")
        elif kind == Kind.TOURNAMENT and "format" not in self._values:
            self._problems.append(f"format is missing: one of {', '.join(Format)}")
        elif format_ is Format.KNOCKOUT and given.get("seats") == 2:
            if deal_sets:
                self._problems.append(
                    "a knockout of two seats has no deal_sets: a game ends when it is decided, or "
                    "after most_deal_sets of its table"
                )
        elif format_ is not None and not deal_sets:
            self._problems.append(f"{where}deal_sets is missing: how many every group plays")

    def _knockout_tables(self, given: Mapping[str, Any]) -> None:
        own = self._values.get(str(Format.KNOCKOUT))
        if isinstance(own, dict) and given.get("seats") != 2:
            self._problems += [
                f"[knockout]: {name} is for two seats; of larger tables the upper half goes on"
                for name in own
                if name in _OF_FORMAT[Format.KNOCKOUT]
            ]

    def _terms(self, given: Mapping[str, Any], where: str) -> MatchTerms | None:
        game_id, seats = given.get("game"), given.get("seats")
        options, control = given.get("options", {}), self._time_control(given, where)
        if not (isinstance(game_id, str) and isinstance(seats, int) and isinstance(options, dict)):
            return None
        try:
            game = game_by_id(game_id)
            chosen = game.options(options, seats)
            first_pack(game.rules, chosen, seats)  # what only the rules can judge
        except (UnknownGame, BadOptions) as error:
            self._problems.append(f"{where}{error.args[0]}")
            return None
        fair = self._values.get("fair", True) is not False
        return (
            None if control is None else MatchTerms(game, chosen, seats, control, seeded=not fair)
        )

    def _time_control(self, values: Mapping[str, Any], where: str) -> TimeControl | None:
        given = values.get("time_control", {})
        if not isinstance(given, dict):
            return None
        before = len(self._problems)
        whole = number(0, 2**31)
        self._known(
            given, {each.name: whole for each in fields(TimeControl)}, f"{where}time_control: "
        )
        if len(self._problems) > before:
            return None
        try:
            return TimeControl(**given)
        except ValueError as error:
            self._problems.append(f"{where}time_control: {error}")
            return None

    def _times(self) -> None:
        opens: Any = self._values.get("opens")
        closes: Any = self._values.get("closes")
        if not _moment(opens) and not _moment(closes) and opens >= closes:
            self._problems.append(f"it closes at {closes}, and opens no earlier: at {opens}")
