"""Knockout of two: a single or double bracket of games, resolved from the winners so far.

The number of places is a power of two; seeds without a bot are byes, which go to the top seeds. A game is between
two sources: a seed, or the winner or loser of another game. In a double knockout a bot that loses once continues
in the losers' bracket, whose winner meets the unbeaten bot in the final; if the unbeaten bot loses, they meet
again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

BYE: Final = ""
"""Takes the place of a bot."""


class BracketOrigin(StrEnum):
    """The kind of a source."""

    SEED = "seed"
    WINNER = "winner"
    LOSER = "loser"


@dataclass(frozen=True, slots=True)
class BracketSource:
    """Where the bot of a place in a game comes from."""

    kind: BracketOrigin
    number: int
    """The number of the seed, from 0, or of the game."""


@dataclass(frozen=True, slots=True)
class BracketGame:
    """A game of the bracket, of which one bot advances."""

    number: int
    stage: str
    """For example "round 1", "losers' round 2" or "final"."""
    sides: tuple[BracketSource, BracketSource]
    only_if_beaten: bool = False
    """The second final: played only if the unbeaten bot lost the first."""


@dataclass(frozen=True, slots=True)
class BracketState:
    """The state of a bracket."""

    playable: tuple[tuple[BracketGame, tuple[str, str]], ...]
    """Games without a winner whose bots are known, with the bots."""
    champion: str | None
    losses: Mapping[str, tuple[int, ...]]
    """The games that each bot lost, in order, without byes."""
    sides: Mapping[int, tuple[str | None, str | None]]
    """By game, the two bots; None for a bot that is not known yet."""
    winners: Mapping[int, str]
    """By decided game, also those that a bot won without playing."""


def single(entrants: int) -> tuple[BracketGame, ...]:
    """Return the bracket of a single knockout. Raises `ValueError` if there are fewer than two bots."""
    return tuple(_Builder(entrants).winners())


def double(entrants: int) -> tuple[BracketGame, ...]:
    """Return the bracket of a double knockout. Raises `ValueError` if there are fewer than two bots."""
    builder = _Builder(entrants)
    builder.winners()
    return tuple(builder.losers())


class _Builder:
    def __init__(self, entrants: int) -> None:
        if entrants < 2:
            raise ValueError(f"a knockout needs at least 2 bots, not {entrants}")
        self._places = 1 << (entrants - 1).bit_length()
        self._games: list[BracketGame] = []
        self._rounds: list[list[int]] = []

    def winners(self) -> list[BracketGame]:
        order = [BracketSource(BracketOrigin.SEED, seed) for seed in _seeding(self._places)]
        while len(order) > 1:
            stage = "final" if len(order) == 2 else f"round {len(self._rounds) + 1}"
            numbers = self._pair(order, stage)
            self._rounds.append(numbers)
            order = [BracketSource(BracketOrigin.WINNER, number) for number in numbers]
        return self._games

    def losers(self) -> list[BracketGame]:
        final = self._rounds[-1][0]
        self._games[final] = BracketGame(final, "unbeaten final", self._games[final].sides)
        alive = [BracketSource(BracketOrigin.LOSER, number) for number in self._rounds[0]]
        stage = 0
        for numbers in self._rounds[1:]:
            stage += 1
            alive = self._winners_of(self._pair(alive, f"losers' round {stage}"))
            # In reverse order, so that two bots that met are far from each other.
            beaten = [BracketSource(BracketOrigin.LOSER, number) for number in reversed(numbers)]
            stage += 1
            mixed = [side for pair in zip(alive, beaten, strict=True) for side in pair]
            alive = self._winners_of(self._pair(mixed, f"losers' round {stage}"))
        (grand,) = self._pair([BracketSource(BracketOrigin.WINNER, final), *alive], "grand final")
        again = (
            BracketSource(BracketOrigin.WINNER, grand),
            BracketSource(BracketOrigin.LOSER, grand),
        )
        self._games.append(
            BracketGame(len(self._games), "second grand final", again, only_if_beaten=True)
        )
        return self._games

    def _pair(self, sides: Sequence[BracketSource], stage: str) -> list[int]:
        numbers = []
        for at in range(0, len(sides), 2):
            numbers.append(len(self._games))
            self._games.append(BracketGame(numbers[-1], stage, (sides[at], sides[at + 1])))
        return numbers

    def _winners_of(self, numbers: Sequence[int]) -> list[BracketSource]:
        return [BracketSource(BracketOrigin.WINNER, number) for number in numbers]


def _seeding(places: int) -> list[int]:
    """Seeds in the order of the bracket: the first two can only meet in the final."""
    order = [0]
    while len(order) < places:
        order = [seed for upper in order for seed in (upper, 2 * len(order) - 1 - upper)]
    return order


def standing(
    bracket: Sequence[BracketGame],
    seeds: Sequence[str],
    winners: Mapping[int, str],
    withdrawn: Collection[str] = (),
) -> BracketState:
    """Resolve a bracket from the winners so far.

    A withdrawn bot loses every game that has no winner yet.

    Raises `ValueError` if the winner of a game does not play in it.
    """
    won: dict[int, str] = {}
    lost: dict[int, str] = {}
    losses: dict[str, list[int]] = {name: [] for name in seeds}
    playable: list[tuple[BracketGame, tuple[str, str]]] = []
    sides: dict[int, tuple[str | None, str | None]] = {}

    def taken_by(source: BracketSource) -> str | None:
        if source.kind is BracketOrigin.SEED:
            return seeds[source.number] if source.number < len(seeds) else BYE
        return (won if source.kind is BracketOrigin.WINNER else lost).get(source.number)

    for game in bracket:
        one, other = sides[game.number] = taken_by(game.sides[0]), taken_by(game.sides[1])
        if one is None or other is None:
            continue
        if game.only_if_beaten and one == taken_by(bracket[game.number - 1].sides[0]):
            won[game.number] = one  # the unbeaten bot won the first final
            continue
        winner = winners.get(game.number) or _unplayed(one, other, withdrawn)
        if winner is None:
            playable.append((game, (one, other)))
            continue
        if winner not in {one, other}:
            raise ValueError(f"game {game.number} is between {one} and {other}, not of {winner}")
        loser = other if winner == one else one
        won[game.number], lost[game.number] = winner, loser
        if loser != BYE:
            losses[loser].append(game.number)
    return BracketState(
        tuple(playable),
        won.get(len(bracket) - 1),
        {name: tuple(games) for name, games in losses.items()},
        sides,
        won,
    )


def _unplayed(one: str, other: str, withdrawn: Collection[str]) -> str | None:
    """Return the bot that advances without playing; None if the game is to be played."""
    if BYE in {one, other}:
        return one or other
    if one in withdrawn:
        return other
    return one if other in withdrawn else None
