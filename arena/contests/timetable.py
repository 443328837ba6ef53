"""The hours of each day at which a competition is played, and the rate of a ladder."""

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from arena.results.record import PlayedCount
from arena.validation import Constraint, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pydantic import ValidationInfo

    HoursInfo: TypeAlias = ValidationInfo[Mapping[str, Any]]

CROSS_TABLES: Final = 4
"""The number of tables of a ladder's deal-set with remote bots: each bot sees a board once, because owners could compare what their bots see."""
HOUR: Final = dt.timedelta(hours=1)
DAY: Final = dt.timedelta(days=1)


def _zone(name: str, _: object) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"there is no time zone {name!r} here; write it as 'Europe/Vienna', or 'UTC'"
        ) from None
    return name


def _end(end: dt.time, info: "HoursInfo") -> dt.time:
    if end == info.data.get("begin"):
        raise ValueError("is the time at which they begin; leave the table out to play all day")
    return end


@dataclass(frozen=True, slots=True)
class DailyHours:
    """The table `[daily]`: the hours of each day at which deal-sets begin. Those in play finish."""

    begin: dt.time
    end: Annotated[dt.time, Constraint(_end)]
    """If it is earlier than `begin`, it is on the next day."""
    zone: Annotated[str, Constraint(_zone)] = "UTC"

    @property
    def length(self) -> dt.timedelta:
        """The time from begin to end, without a change of the clocks."""
        day = dt.date.min
        span = dt.datetime.combine(day, self.end) - dt.datetime.combine(day, self.begin)
        return span if span > dt.timedelta() else span + DAY

    def has(self, now: dt.datetime) -> bool:
        local = now.astimezone(ZoneInfo(self.zone)).time()
        if self.begin < self.end:
            return self.begin <= local < self.end
        return local >= self.begin or local < self.end

    def __str__(self) -> str:
        return f"daily from {self.begin:%H:%M} to {self.end:%H:%M} {self.zone}"


@dataclass(frozen=True, slots=True)
class Rate:
    """The table `[rate]` of a ladder: the maximal number of deal-sets of each of its games in a time."""

    matches_an_hour: Annotated[int, Limits(ge=1)] | None = None
    deal_sets_a_day: Annotated[int, Limits(ge=1)] | None = None

    def allows(self, hour: PlayedCount, day: PlayedCount, more: PlayedCount) -> bool:
        """Return whether `more` deal-sets may begin, given those of the last hour and day and those in play."""
        return (
            self.matches_an_hour is None or hour.matches + more.matches <= self.matches_an_hour
        ) and (
            self.deal_sets_a_day is None or day.deal_sets + more.deal_sets <= self.deal_sets_a_day
        )

    def spacing(self, begun: PlayedCount, day: dt.timedelta = DAY) -> dt.timedelta:
        """Return the pause after `begun` deal-sets, so that the allowed ones are spread over the time.

        `day` is the time of each day at which deal-sets begin.
        """
        spans = [dt.timedelta()]
        if self.matches_an_hour is not None:
            spans.append(HOUR * begun.matches / self.matches_an_hour)
        if self.deal_sets_a_day is not None:
            spans.append(day * begun.deal_sets / self.deal_sets_a_day)
        return max(spans)

    def __str__(self) -> str:
        limits = (
            (self.matches_an_hour, "matches an hour"),
            (self.deal_sets_a_day, "deal-sets a day"),
        )
        return " and ".join(f"at most {most:,} {what}" for most, what in limits if most is not None)
