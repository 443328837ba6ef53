"""The description of a game: its rules, its message classes and the texts about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module, resources
from types import ModuleType
from typing import Any, Final

from arena.games.contract import BadOptions, Options, Rules, Seat, State, View
from arena.games.options import Setting, Value, build_options, settings_of

_SAMPLE_HEADING: Final = """\
## Sample

The beginning of a match of {} between players who choose at random, in the notation of
replays: a line for each move, and after `>` one for each event, with the seats that it was sent
to in brackets if it was not sent to all.
"""


_FIELDS_HEADING: Final = """\
## View

What a bot sees when it is asked, by the fields of `ask.view`:

| field | meaning |
|---|---|
"""


@dataclass(frozen=True, slots=True)
class Game:
    """A game that can be played."""

    id: str
    """The name on the wire and in commands: lower case, words joined by underscores."""
    family: str
    """The package in `arena.games`, and the field in every `oneof game` of proto/."""
    number: int
    """The number of that field. It never changes and is never reused."""
    title: str
    summary: str
    """The game in one sentence."""
    rules: Rules
    messages: ModuleType
    """The module `messages` of the family, with `View`, `Move`, `Event`, their parts, and `Options`."""
    rules_version: int
    """Incremented with every change in behaviour; bots declare the version that they play."""
    seats: tuple[int, ...]
    """The allowed numbers of seats, in order."""
    preset: Mapping[str, Value] = field(default_factory=dict)
    """Options that distinguish this game in its family; users cannot set them."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The options that a user may choose."""
        return settings_of(self.messages.Options, self.preset)

    def options(self, given: Mapping[str, object], seats: int) -> Options:
        """Return validated options for a match with `seats` seats.

        Raises `BadOptions` naming the option, or the allowed numbers of seats.
        """
        if seats not in self.seats:
            low, high = self.seats[0], self.seats[-1]
            span = f"{low}" if low == high else f"{low} to {high}"
            raise BadOptions(f"{self.id} is played by {span} seats, not {seats}")
        return build_options(self.messages.Options, given, self.preset)

    def values(self, options: Options) -> dict[str, Value]:
        """Return the values of the options that have an effect, by name, without preset ones."""
        value = partial(getattr, options)
        return {
            option.name: value(option.name)
            for option in self.settings
            if not option.unmet(value) and value(option.name) != ""  # several numbers, none given
        }

    def without_idle_defaults(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given values without those defaults that have no effect with the other values."""
        values: dict[str, Any] = {option.name: option.default for option in self.settings}
        values.update(given)
        idle = {
            option.name
            for option in self.settings
            if values[option.name] == option.default and option.unmet(values.__getitem__)
        }
        return {name: value for name, value in given.items() if name not in idle}

    def margin_bound(self, options: Options, seats: int) -> int | None:
        """Return the largest difference that the rules allow between two scores in a match.

        That is between two seats of the match, or between two matches of one seat with the same
        boards. None if there is no useful bound: in races, which count as won or lost, and where
        scores may grow with the number of moves.
        """
        return self.rules.margin_bound(options, seats)

    def sample_state(
        self, view: View, options: Options, seat: Seat, below: Callable[[int], int]
    ) -> State:
        """Draw a state that `seat` cannot tell from the real one; `view` is the one that it was asked with.

        All deals that fit the view are equally likely: no conclusions are drawn from the moves of the others. In
        Eleusis the rule is drawn by a prior. `below(n)` draws an integer in [0, n). The module `possible_states` of
        each family implements it.
        """
        states = import_module(f"arena.games.{self.family}.possible_states")
        return states.sample_state(view, options, seat, below)

    def describe(self) -> str:
        """Return the page that `arena games show` prints, in Markdown."""
        pages = resources.files("arena.games").joinpath("pages")
        text = pages.joinpath(f"{self.id}.md").read_text("utf-8")
        rows = "".join(
            f"| `{name}` | {meaning} |\n" for name, meaning in self.view_fields().items()
        )
        sample = pages.joinpath(f"{self.id}.sample").read_text("utf-8")
        of_sample = f"{_SAMPLE_HEADING.format(self.id)}\n```\n{sample}```\n"
        return f"{text}\n{_FIELDS_HEADING}{rows}\n{of_sample}"

    def view_fields(self) -> Mapping[str, str]:
        """Return what the fields of a view mean, by name, as the comments of `proto/` say."""
        file = resources.files("arena.games").joinpath("pages", f"{self.family}.fields")
        if not file.is_file():
            return {}  # of a new game, until scripts/proto has written it
        lines = file.read_text("utf-8").splitlines()
        return {name: meaning for name, _, meaning in (line.partition("\t") for line in lines)}
