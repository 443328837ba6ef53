"""Counters of bots' sessions in journals, so that a later process never reuses a number."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cardarena.v1 import journal_pb2

KEPT_SILENT: Final = 1_000
"""The maximal number of bots without a match whose counters are kept."""


@dataclass(frozen=True, slots=True)
class KeptSession:
    """The counters of a bot's session."""

    epoch: int = 0
    matches: int = 0

    def including(self, epoch: int, matches: int) -> "KeptSession":
        """Return the higher of these counters and the given ones."""
        return KeptSession(max(self.epoch, epoch), max(self.matches, matches))


def session_records(
    sessions: Mapping[tuple[str, int], KeptSession],
) -> Iterator[journal_pb2.Record]:
    """Records of the counters of sessions, by name and instance.

    Of bots without a match only the latest are included.
    """
    silent = [bot for bot, kept in sessions.items() if not kept.matches]
    passed_over = set(silent[:-KEPT_SILENT])
    for (name, instance), kept in sessions.items():
        if (name, instance) not in passed_over:
            message = journal_pb2.SessionKept(
                bot=name, instance=instance, epoch=kept.epoch, matches=kept.matches
            )
            yield journal_pb2.Record(session=message)
