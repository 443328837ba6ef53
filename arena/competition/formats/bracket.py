"""Knockout of two: a bracket of games, single or double, resolved from the winners so far.

The bracket has a power of two of places; seeds that nobody has are byes, which so fall to the top. A
game is between two sources: a seed, or the winner or loser of another game. In a double knockout who
loses once goes on among the losers, and their best meets the unbeaten; if that one loses, once more.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

NOBODY: Final = ""
"""Stands where a bye is."""


class From(StrEnum):
    """What a place in a game is taken by."""

    SEED = "seed"
    WINNER = "winner"
    LOSER = "loser"


@dataclass(frozen=True, slots=True)
class Source:
    """Who takes a place in a game."""

    kind: From
    number: int
    """Of the seed from 0, or of the game."""


@dataclass(frozen=True, slots=True)
class Game:
    """Two places of the bracket, of which one goes on."""

    number: int
    stage: str
    """As people say it: "round 1", "losers' round 2", "final"."""
    sides: tuple[Source, Source]
    only_if_beaten: bool = False
    """The second final: played only if the unbeaten lost the first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a bracket has come to."""

    playable: tuple[tuple[Game, tuple[str, str]], ...]
    """Games that can be played now and have no winner yet, with who plays."""
    champion: str | None
    losses: Mapping[str, tuple[int, ...]]
    """The games that each bot lost, byes left out, in order."""


def single(entrants: int) -> tuple[Game, ...]:
    """The bracket of a single knockout.

    Raises:
      ValueError: if there are fewer than two bots.
    """
    return tuple(_Builder(entrants).winners())


def double(entrants: int) -> tuple[Game, ...]:
    """The bracket of a double knockout.

    Raises:
      ValueError: if there are fewer than two bots.
    """
    builder = _Builder(entrants)
    builder.winners()
    return tuple(builder.losers())


class _Builder:
    def __init__(self, entrants: int) -> None:
        if entrants < 2:
            raise ValueError(f"a knockout needs at least 2 bots, not {entrants}")
        self._places = 1 << (entrants - 1).bit_length()
        self._games: list[Game] = []
        self._rounds: list[list[int]] = []

    def winners(self) -> list[Game]:
        order = [Source(From.SEED, seed) for seed in _seeding(self._places)]
        while len(order) > 1:
            stage = "final" if len(order) == 2 else f"round {len(self._rounds) + 1}"
            numbers = self._pair(order, stage)
            self._rounds.append(numbers)
            order = [Source(From.WINNER, number) for number in numbers]
        return self._games

    def losers(self) -> list[Game]:
        final = self._rounds[-1][0]
        self._games[final] = Game(final, "unbeaten final", self._games[final].sides)
        alive = [Source(From.LOSER, number) for number in self._rounds[0]]
        stage = 0
        for numbers in self._rounds[1:]:
            stage += 1
            alive = self._winners_of(self._pair(alive, f"losers' round {stage}"))
            # In turned order, so that two who met are far from each other.
            beaten = [Source(From.LOSER, number) for number in reversed(numbers)]
            stage += 1
            mixed = [side for pair in zip(alive, beaten, strict=True) for side in pair]
            alive = self._winners_of(self._pair(mixed, f"losers' round {stage}"))
        (grand,) = self._pair([Source(From.WINNER, final), *alive], "grand final")
        again = Source(From.WINNER, grand), Source(From.LOSER, grand)
        self._games.append(Game(len(self._games), "second grand final", again, only_if_beaten=True))
        return self._games

    def _pair(self, sides: Sequence[Source], stage: str) -> list[int]:
        numbers = []
        for at in range(0, len(sides), 2):
            numbers.append(len(self._games))
            self._games.append(Game(numbers[-1], stage, (sides[at], sides[at + 1])))
        return numbers

    def _winners_of(self, numbers: Sequence[int]) -> list[Source]:
        return [Source(From.WINNER, number) for number in numbers]


def _seeding(places: int) -> list[int]:
    """Seeds in the order of the bracket: the first two meet last, if they win."""
    order = [0]
    while len(order) < places:
        order = [seed for upper in order for seed in (upper, 2 * len(order) - 1 - upper)]
    return order


def standing(
    bracket: Sequence[Game],
    seeds: Sequence[str],
    winners: Mapping[int, str],
    withdrawn: Collection[str] = (),
) -> Standing:
    """What is to be played, and who has won.

    Who withdrew loses every game that has no winner yet.

    Raises:
      ValueError: if a game is won by a bot that does not play in it.
    """
    won: dict[int, str] = {}
    lost: dict[int, str] = {}
    losses: dict[str, list[int]] = {name: [] for name in seeds}
    playable = []

    def taken_by(source: Source) -> str | None:
        if source.kind is From.SEED:
            return seeds[source.number] if source.number < len(seeds) else NOBODY
        return (won if source.kind is From.WINNER else lost).get(source.number)

    for game in bracket:
        one, other = (taken_by(side) for side in game.sides)
        if one is None or other is None:
            continue
        if game.only_if_beaten and one == taken_by(bracket[game.number - 1].sides[0]):
            won[game.number] = one  # the unbeaten won the first
            continue
        winner = winners.get(game.number) or _unplayed(one, other, withdrawn)
        if winner is None:
            playable.append((game, (one, other)))
            continue
        if winner not in {one, other}:
            raise ValueError(f"game {game.number} is between {one} and {other}, not of {winner}")
        loser = other if winner == one else one
        won[game.number], lost[game.number] = winner, loser
        if loser != NOBODY:
            losses[loser].append(game.number)
    return Standing(
        tuple(playable),
        won.get(len(bracket) - 1),
        {name: tuple(games) for name, games in losses.items()},
    )


def _unplayed(one: str, other: str, withdrawn: Collection[str]) -> str | None:
    """Who goes on without a game; None if there is one to play."""
    if NOBODY in {one, other}:
        return one or other
    if one in withdrawn:
        return other
    return one if other in withdrawn else None
