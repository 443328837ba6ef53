"""A bot that plays by a trained policy, in pure Python because the sandbox has no numpy."""

import ast
import json
import zipfile
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import cardarena
from arena.envs.actions import Legal
from arena.envs.encoders import Layout, layout_of
from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Moves, Seat, State
from arena.house.bot import searcher_of
from arena.house.search import Below, Policy, Searcher
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_of_message

IGNORED: Final = ("hand", "totals")
"""The fields of views that are 0 for a policy, because it plays for the points of a hand, in a match of any length."""


def layout_digest(layout: Layout) -> str:
    """Return a digest of the meaning of observations and actions, which a policy is trained for."""
    described = repr((layout.parts(), layout.actions.size))
    return blake2b(described.encode(), digest_size=8).hexdigest()


def ignored_inputs(layout: Layout) -> list[int]:
    """Return the indices of the numbers that are 0 for a policy."""
    parts = [part for part in layout.parts() if part.name in IGNORED]
    return [place for part in parts for place in range(part.start, part.start + part.size)]


def better_move(legal: Legal, values: Sequence[float], usual: Move, margin: float) -> Move:
    """Return the move of the largest value, or the usual move if its value is smaller by less than the margin.

    Small differences between values are uncertain, and the usual move is rarely bad.
    """
    best = max(legal, key=values.__getitem__)
    lost = [values[best] - values[action] for action in legal if legal[action] == usual]
    return usual if lost and lost[0] <= margin else legal[best]


class TrainedPolicy:
    """The values of the actions of a game, by the file that `arena train` writes."""

    def __init__(self, file: Path) -> None:
        """Read the file.

        Raises:
          OSError: if it cannot be read.
          ValueError: if it was trained for another layout than that of this version of the game.
        """
        about, parameters = _read(file)
        self.game = game_by_id(about["game"])
        self.seats: int = about["seats"]
        options = self.game.options(about["options"], self.seats)
        self.layout = layout_of(self.game, options, self.seats)
        if about["layout"] != layout_digest(self.layout):
            raise ValueError(
                f"{file} was trained for another layout of {self.game.id}; train it again"
            )
        self._ignored = ignored_inputs(self.layout)
        self._margin: float = about["margin"]
        self._points: float = about["scale"] * about["trust"]
        """What a difference of values is worth: little if the network does not foresee gains yet."""
        house = searcher_of(self.game.id)
        assert house is not None, "every game has a policy"
        self._house: Policy = house.policy
        self._searcher = Searcher(
            self.game,
            self.move,
            house.candidates,
            house.last_hand,
            house.rollout or house.policy,
            house.likelihood,
            house.look_ahead,
            self.worth,
            step_time=house.step_time,
        )
        self._layers = list(zip(parameters[::2], parameters[1::2], strict=True))

    def values(self, numbers: Sequence[float]) -> list[float]:
        """Return the value of each action at an observation. Inputs that are 0 cost nothing."""
        sums: list[float] = []
        for weights, (biases,) in self._layers:
            sums = list(biases)
            for number, row in zip(numbers, weights, strict=True):
                if number > 0 or number < 0:
                    sums = [one + number * weight for one, weight in zip(sums, row, strict=True)]
            numbers = [one if one > 0 else 0.0 for one in sums]
        return sums

    def move(self, state: State, seat: Seat, below: Below) -> Move:
        """Return the move that has the largest value, if it is larger by the margin than that of the house bot's."""
        usual = self._house(state, seat, below)
        moves = self.game.rules.moves(state, seat)
        if moves.complete and len(moves.offered) == 1:
            return usual
        return better_move(*self._valued(state, seat, moves), usual, self._margin)

    def worth(self, state: State, seat: Seat) -> dict[Move, float]:
        """Return the values of moves, in points."""
        legal, values = self._valued(state, seat, self.game.rules.moves(state, seat))
        return {move: self._points * values[action] for action, move in legal.items()}

    def _valued(self, state: State, seat: Seat, moves: Moves) -> tuple[Legal, list[float]]:
        view = self.game.rules.view(state, seat)
        numbers = self.layout.numbers(view, seat)
        for place in self._ignored:
            numbers[place] = 0.0
        return self.layout.actions.legal(view, moves), self.values(numbers)

    def choose(
        self, ask: cardarena.AnyAsk, steps: int, time_is_up: Callable[[], bool]
    ) -> cardarena.Choice:
        """Return the move of the policy, or a better one by a search of `steps` steps, which ends when the time is up."""
        codec = codec_of(self.game)
        view, options = codec.read_view(ask.view), terms_of_message(ask.start.terms).options
        searched = self._searcher.choose(
            view, options, Seat(ask.seat), view.hand, steps, ask.random, time_is_up
        )
        return type(ask.moves[0]).FromString(codec.move(searched.move))


class TrainedBot(cardarena.Bot):
    """Plays the move of the largest value by the policy of a file, or a better one by a search."""

    max_matches = 64
    file: str | Path = "policy.npz"
    """The file that `arena train` writes; a class of a bot has its path."""
    steps = 0
    """The number of steps of the rules that a search on top of the policy takes for a decision, about, as those of `house:search-200ms` (2400).

    Steps are counted, so that the bot plays equally on all machines; it uses fewer only if half of the time for a move
    has passed.
    """

    def __init__(self, file: str | Path | None = None) -> None:
        """Take the file of a policy; by default that of the class."""
        self.file = file or self.file

    @classmethod
    def load(cls) -> None:
        """Read the policy before the bot connects."""
        if cls.file != TrainedBot.file:
            _latest(Path(cls.file))

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        return _latest(Path(self.file)).choose(ask, self.steps, self.time_is_up(ask))

    def time_is_up(self, ask: cardarena.AnyAsk) -> Callable[[], bool]:
        """Return a function that tells a search to end after half of the time for the move and a hundredth of the bank.

        The other half is for the network, for the last world of the search, and for a machine that is busy.
        """
        kept_s = (ask.clock.move_ms * 0.5 + ask.clock.bank_ms * 0.99) / 1000
        return lambda: ask.time_left_s() < kept_s


def _latest(file: Path) -> TrainedPolicy:
    return _policy(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _policy(file: Path, written_ns: int) -> TrainedPolicy:  # noqa: ARG001 - a file that was written anew is read anew
    return TrainedPolicy(file)


def _read(file: Path) -> tuple[dict[str, Any], list[list["array[float]"]]]:
    """Return the content of a file of numpy: a description, and the rows of the other arrays in their order."""
    with zipfile.ZipFile(file) as archive:
        arrays = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
    about = json.loads(_numbers(arrays.pop("about"))[1])
    parameters = []
    for data in arrays.values():
        shape, values = _numbers(data)
        floats = array("f", values)
        width = shape[-1]
        parameters.append([floats[at : at + width] for at in range(0, len(floats), width)])
    return about, parameters


def _numbers(data: bytes) -> tuple[tuple[int, ...], bytes]:
    """Return the shape and the bytes of an array in numpy's format (version 1)."""
    start = 10 + int.from_bytes(data[8:10], "little")
    return ast.literal_eval(data[10:start].decode("latin-1"))["shape"], data[start:]
