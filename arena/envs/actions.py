"""Action spaces: numbered actions, and the legal moves that they represent at a decision.

A space is made of groups. `FixedMoves` lists moves, so that an action is the same move at every decision.
`OfferedMoves` numbers the offered moves of a class if a list of all would be too long. `ChosenMoves` is an abstraction:
a few of the moves if the rules allow more than they offer.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Final, TypeAlias, cast

from arena.envs.codes import Rename
from arena.games.contract import Move, Moves, View
from arena.games.notation import Notation

_LISTED: Final = 6
"""The number of successive moves of a class that the page of layouts lists."""

Legal: TypeAlias = dict[int, Move]
"""The moves by the actions that stand for them."""


class ActionGroup(ABC):
    """Actions with successive numbers."""

    size: int
    is_by_place = False
    """Whether an action may be another move if the suits are renamed, because it is numbered by the order of cards."""

    def renamed(self, rename: Rename) -> list[int]:
        """Return for each action the number of its move with its suits renamed."""
        del rename
        return list(range(self.size))

    def fixed(self) -> Sequence[Move]:
        """Return the moves in order, if they are the same at every decision."""
        return ()

    def legal(self, view: View, moves: Moves) -> Iterable[tuple[int, Move]]:  # noqa: ARG002
        """Yield legal moves of the group that are not fixed, each with its number in the group."""
        return ()

    @abstractmethod
    def meanings(self, notation: Notation) -> Iterator[tuple[int, str]]:
        """Yield numbers of successive actions, and their meaning."""


class FixedMoves(ActionGroup):
    """Moves that are the same at every decision."""

    def __init__(self, *moves: Move) -> None:
        self._moves = moves
        self._number = {move: number for number, move in enumerate(moves)}
        self.size = len(moves)

    def renamed(self, rename: Rename) -> list[int]:
        return [self._number[rename(move)] for move in self._moves]

    def fixed(self) -> Sequence[Move]:
        return self._moves

    def meanings(self, notation: Notation) -> Iterator[tuple[int, str]]:
        for _, group in groupby(self._moves, type):
            texts = [f"`{notation.write(move)}`" for move in group]
            size = len(texts)
            if size > _LISTED:
                texts[2:-1] = ["…"]
            yield size, ", ".join(texts)


class OfferedMoves(ActionGroup):
    """The first `most` offered moves of these classes, by their place in the offer."""

    is_by_place = True

    def __init__(self, most: int, *kinds: type) -> None:
        self._kinds = kinds
        self.size = most

    def legal(self, view: View, moves: Moves) -> Iterator[tuple[int, Move]]:  # noqa: ARG002
        kinds = self._kinds
        return enumerate(
            islice((move for move in moves.offered if isinstance(move, kinds)), self.size)
        )

    def meanings(self, notation: Notation) -> Iterator[tuple[int, str]]:  # noqa: ARG002
        names = " or ".join(f"`{kind.__name__}`" for kind in self._kinds)
        yield (
            self.size,
            f"the offered moves {names}, by their place in the offer; at most {self.size}",
        )


class ChosenMoves(ActionGroup):
    """Moves that a function chooses from a view: for each number a legal move, or None."""

    def __init__(
        self,
        size: int,
        meaning: str,
        choose: Callable[[View, Moves], Iterable[Move | None]],
        *,
        is_by_place: bool = False,
    ) -> None:
        self.is_by_place = is_by_place
        self.size = size
        self._meaning = meaning
        self._choose = choose

    def legal(self, view: View, moves: Moves) -> Iterator[tuple[int, Move]]:
        for number, move in enumerate(islice(self._choose(view, moves), self.size)):
            if move is not None:
                yield number, move

    def meanings(self, notation: Notation) -> Iterator[tuple[int, str]]:  # noqa: ARG002
        yield self.size, self._meaning


class ActionSpace:
    """The actions of a game, numbered from 0."""

    def __init__(self, *groups: ActionGroup) -> None:
        self.groups = groups
        self.size = 0
        self._fixed: dict[Move, int] = {}
        self._others: list[tuple[int, ActionGroup]] = []
        for group in groups:
            moves = group.fixed()
            if moves:
                self._fixed |= {move: self.size + at for at, move in enumerate(moves)}
            else:
                self._others.append((self.size, group))
            self.size += group.size
        self._by_identity = {id(move): action for move, action in self._fixed.items()}
        """Most moves of the rules are these objects, and a hash of a move takes longer."""

    def renamed(self, rename: Rename) -> list[int]:
        """Return for each action its number with the suits of its move renamed; actions that are numbered by place keep their number."""
        places: list[int] = []
        for group in self.groups:
            start = len(places)
            places += [start + at for at in group.renamed(rename)]
        return places

    def by_place(self) -> list[int]:
        """Return the actions that are numbered by the order of cards."""
        actions: list[int] = []
        start = 0
        for group in self.groups:
            actions += range(start, start + group.size) if group.is_by_place else ()
            start += group.size
        return actions

    def legal(self, view: View, moves: Moves) -> Legal:
        """Return the legal moves by their actions; there is at least one.

        A move has one action: the first that represents it.
        """
        return dict(sorted(self.legal_in_any_order(view, moves).items()))

    def legal_in_any_order(self, view: View, moves: Moves) -> Legal:
        """Return what `legal` returns, without the time that the order takes."""
        offered = moves.offered
        actions: Iterable[int | None] = map(self._by_identity.get, map(id, offered))
        legal = dict(zip(actions, offered, strict=True))
        if None in legal:
            at_all = ((self._fixed.get(move), move) for move in offered)
            legal = {action: move for action, move in at_all if action is not None}
        for start, group in self._others:
            for number, move in group.legal(view, moves):
                legal[start + number] = move
        return cast("Legal", legal)
