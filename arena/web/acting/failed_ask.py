"""Draws what a bot knew at the ask at which it failed."""

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
"""How the SDK begins the lines that it writes itself."""


def names_of(bot: str, check: bots_pb2.Check) -> list[str]:
    """The names in the picture, by seat."""
    own = check.failed.seat
    return [bot if seat == own else f"opponent {seat}" for seat in range(check.seats)]


def picture(bot: str, check: bots_pb2.Check) -> Element | None:
    """The table as the bot's seat saw it; None if the report has none, or is of other rules than this arena's."""
    if not check.HasField("failed"):
        return None
    try:
        return _drawn(bot, check)
    except (
        Exception
    ):  # the report may be of an earlier version of the rules, whose views are read by none
        return None


def offered_words(bot: str, check: bots_pb2.Check) -> list[str]:
    """The moves that were offered, in words; as the report has them if it is of other rules than this arena's."""
    try:
        game, failed = game_by_id(check.name), check.failed
        view = codec_of(game).read_view(getattr(failed.view, codec_of(game).family))
        moves = [Notation(game.messages.Move).read(move) for move in check.offered]
        names = names_of(bot, check)
        return [spoken(choice.words, names) for choice in choices(game, view, moves)]
    except Exception:  # as in `picture`
        return list(check.offered)


def of_failure(lines: Sequence[str]) -> Sequence[str]:
    """The last lines of a bot's output, from the first that the SDK wrote; all if there is none."""
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
