"""What journals keep of bots' sessions, so that a later process never counts the same again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cardarena.v1 import journal_pb2

KEPT_SILENT: Final = 1_000
"""Bots that never sat at a match whose streams are still counted when their records are written again."""


@dataclass(frozen=True, slots=True)
class KeptSession:
    """What a bot's session had counted up to."""

    epoch: int = 0
    matches: int = 0

    def including(self, epoch: int, matches: int) -> "KeptSession":
        """The same, with what was counted elsewhere."""
        return KeptSession(max(self.epoch, epoch), max(self.matches, matches))


def session_records(
    sessions: Mapping[tuple[str, int], KeptSession],
) -> Iterator[journal_pb2.Record]:
    """What sessions had counted up to, by name and instance, to be written down again.

    Of bots that never sat at a match only the latest are kept.
    """
    silent = [bot for bot, kept in sessions.items() if not kept.matches]
    passed_over = set(silent[:-KEPT_SILENT])
    for (name, instance), kept in sessions.items():
        if (name, instance) not in passed_over:
            message = journal_pb2.SessionKept(
                bot=name, instance=instance, epoch=kept.epoch, matches=kept.matches
            )
            yield journal_pb2.Record(session=message)
