"""Times in the store: ISO 8601 in UTC, and milliseconds since 1970."""

from datetime import UTC, datetime


def iso_utc(moment: datetime) -> str:
    """Return a moment in ISO 8601, to the second. Raises `ValueError` if it has no time zone."""
    return _with_zone(moment).astimezone(UTC).isoformat(timespec="seconds")


def unix_ms(moment: datetime) -> int:
    """Return a moment in milliseconds since 1970. Raises `ValueError` if it has no time zone."""
    return int(_with_zone(moment).timestamp() * 1000)


def _with_zone(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment} needs a time zone")
    return moment
