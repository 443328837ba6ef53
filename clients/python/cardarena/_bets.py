"""What a bet may come to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bets:
    """What a bet or raise may come to; `40 in bets` says whether one may be made."""

    least: int
    """In chips."""
    most: int
    """In chips."""

    def __contains__(self, to: object) -> bool:
        return isinstance(to, int) and self.least <= to <= self.most

    def at(self, to: int) -> int:
        """The bet, if it may be made: `moves.raise_(bets.at(40))`.

        Raises:
          ValueError: if it may not.
        """
        if to not in self:
            raise ValueError(f"a bet to {to} is none: it may come to {self.least} to {self.most}")
        return to

    def nearest(self, to: float) -> int:
        """The bet of whole chips that is nearest to it and may be made."""
        return round(min(max(to, self.least), self.most))
