"""The legal sizes of bets."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bets:
    """The legal sizes of a bet or raise; `40 in bets` is true if 40 is legal."""

    least: int
    """The smallest size in chips."""
    most: int
    """The largest size in chips."""

    def __contains__(self, to: object) -> bool:
        return isinstance(to, int) and self.least <= to <= self.most

    def at(self, to: int) -> int:
        """Return the bet if it is legal: `moves.raise_(bets.at(40))`.

        Raises:
          ValueError: if it is not legal.
        """
        if to not in self:
            raise ValueError(f"a bet to {to} is none: it may come to {self.least} to {self.most}")
        return to

    def nearest(self, to: float) -> int:
        """Return the nearest legal bet in whole chips."""
        return round(min(max(to, self.least), self.most))
