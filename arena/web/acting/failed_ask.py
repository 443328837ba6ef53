"""Draws the view of a bot at the ask at which it failed."""

from collections.abc import Sequence
from typing import Final

from arena.games.catalogue import game_by_id
from arena.games.contract import Seat
from arena.games.notation import Notation
from arena.pictures import scenes_of
from arena.pictures.choices import choices
from arena.records.frames import perspective_of
from arena.referee.wire.games import codec_of
from arena.web.rich_text import spoken
from arena.web.table import TableLayout, table
from arena.web.trees import Element
from cardarena.v1 import bots_pb2

_SDK: Final = "cardarena:"
"""The prefix of the lines that the SDK writes itself."""


def names_of(bot: str, check: bots_pb2.Check) -> list[str]:
    """Return the names in the picture, by seat."""
    own = check.failed.seat
    return [bot if seat == own else f"opponent {seat}" for seat in range(check.seats)]


def picture(bot: str, check: bots_pb2.Check) -> Element | None:
    """Return the table as the bot's seat saw it; None if the report has none, or has other rules than this arena."""
    if not check.HasField("failed"):
        return None
    try:
        return _drawn(bot, check)
    except (
        Exception
    ):  # the report may be of an earlier version of the rules, whose views cannot be read
        return None


def offered_words(bot: str, check: bots_pb2.Check) -> list[str]:
    """Return the offered moves in words; in the words of the report if it has other rules than this arena."""
    try:
        game, failed = game_by_id(check.name), check.failed
        view = codec_of(game).read_view(getattr(failed.view, codec_of(game).family))
        moves = [Notation(game.messages.Move).read(move) for move in check.offered]
        names = names_of(bot, check)
        return [spoken(choice.words, names) for choice in choices(game, view, moves)]
    except Exception:  # see `picture`
        return list(check.offered)


def of_failure(lines: Sequence[str]) -> Sequence[str]:
    """Return the last lines of a bot's output, from the first line of the SDK; all if there is none."""
    first = (at for at, line in enumerate(lines) if line.startswith(_SDK))
    return lines[next(first, 0) :]


def _drawn(bot: str, check: bots_pb2.Check) -> Element:
    game, failed = game_by_id(check.name), check.failed
    codec, seat = codec_of(game), Seat(failed.seat)
    view = codec.read_view(getattr(failed.view, codec.family))
    events = tuple(codec.read_event(getattr(event, codec.family)) for event in failed.events)
    options = game.options({}, check.seats)
    seen = perspective_of({seat: view}, seat, events, 0, check.seats, options)
    layout = TableLayout(names_of(bot, check), seat, marks={seat: "failed here"})
    return table(scenes_of(game).scene(seen), layout)
