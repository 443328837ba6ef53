"""Finds matches and bots by the names that are typed on command lines.

A match is named by its id, a beginning of it that no other id has, `last`, or its replay file. A
bot is named by its name, its seat, its file or its class: `my_bot.py` is listed as `my` if an arena
launches it, and as `MyBot` if it connects by itself.
"""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from arena.cli.options import require_folder
from arena.cli.suggestions import MOST, nearest
from arena.games.contract import Seat
from arena.records.playback import Discrepancy
from arena.records.read import REPLAY_SUFFIX, Unplayable, replay_path
from arena.records.records import Damaged
from arena.results.deal_sets import bot_of

LAST: Final = "last"
REPLAYS: Final = "replays"
_NO_WORDS: Final = re.compile(r"[^a-z0-9]+")


def replay_of(match: str, data: Path) -> Path:
    """Return the replay file of a match, which is in the folder `data` or named itself.

    Raises `click.ClickException` if no match has this name, several have, or it has no replay.
    """
    path = Path(match)
    if names_a_file(match):
        return path
    replay = published(match, data)
    if replay is not None:
        return replay
    folder = data / REPLAYS
    near = nearest(match, (path.stem for path in _newest_first(folder)))
    raise click.ClickException(f"there is no replay of a match {match!r} in {folder}; {near}")


def names_a_file(match: str) -> bool:
    """Return whether a match is named by its replay file."""
    path = Path(match)
    named = path.suffix == REPLAY_SUFFIX or len(path.parts) > 1 or path.exists()
    return named and match not in ("", LAST)


def published(match: str, data: Path) -> Path | None:
    """Return the replay file of a match in a data folder; None if it has none.

    Raises `click.ClickException` if there is no such folder, several matches have this name, or `last` is requested and
    the folder has no replay.
    """
    require_folder(data)
    folder = data / REPLAYS
    if match == LAST:
        last = _last(data)
        if last is None:
            raise click.ClickException(f"there is no replay in {folder} yet")
        return last
    try:
        replay_path(folder, match)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    begun = [path for path in _newest_first(folder) if path.stem.startswith(match)]
    exact = [path for path in begun if path.stem == match]
    if len(exact or begun) > 1:
        ids = ", ".join(path.stem for path in begun[:MOST])
        more = f" and {len(begun) - MOST} more" if len(begun) > MOST else ""
        raise click.ClickException(f"{match!r} begins the ids of several matches: {ids}{more}")
    return next(iter(exact or begun), None)


@contextlib.contextmanager
def plain_replay_errors(file: Path) -> Iterator[None]:
    """Print the errors of a replay as one sentence, and exit with 1."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"cannot read {file}: {error.strerror}") from error
    except (Damaged, Discrepancy, Unplayable) as error:
        raise click.ClickException(f"{file}: {error}") from error


def newest_replays(bot: str, game: str, most: int, data: Path) -> list[Path]:
    """Return the newest published replays of a bot at a game, of an arena's folder; none without a store."""
    wanted = {"bots": [bot], "game": game, "published": True}
    return list(itertools.islice(_published(data, **wanted), most))


def _last(data: Path) -> Path | None:
    first = next(_published(data), None)
    return first or next(iter(_newest_first(data / REPLAYS)), None)


def _published(data: Path, **wanted: Any) -> Iterator[Path]:
    # Imported here, because most commands that name a match call no service.
    from arena.app.local_channel import has_store
    from arena.cli.services import ArenaServices, local_services
    from cardarena.v1 import lobby_pb2
    from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub

    if not has_store(data):
        return
    folder = data / REPLAYS
    ended = lobby_pb2.MatchFilter(**{"published": True, **wanted})
    with local_services(data, ArenaServices) as services:
        lobby = services.of(LobbyServiceStub)
        request = lobby_pb2.ListMatchesRequest(ended=ended)
        matches = lobby.call(lobby.stub.ListMatches, request).matches
    for match in matches:
        if (path := folder / f"{match.match_id}{REPLAY_SUFFIX}").is_file():
            yield path


def _newest_first(folder: Path) -> list[Path]:
    written = ((path.stat().st_mtime_ns, path) for path in folder.glob(f"*{REPLAY_SUFFIX}"))
    return [path for _, path in sorted(written, reverse=True)]


# Bots.


def meant(bot: str, names: Iterable[str]) -> list[str]:
    """Return the names that a typed name means.

    These are the equal name; or names that differ only in capitals; or versions of the bot; or the bot of this version,
    because a remote bot plays under its own name; or names that differ in `.py`, `_` and `bot`.
    """
    known = list(dict.fromkeys(names))
    ways: Sequence[Callable[[str], bool]] = (
        lambda name: name == bot,
        lambda name: name.casefold() == bot.casefold(),
        lambda name: bot_of(name) == bot,
        lambda name: name == bot_of(bot),
        lambda name: _bare(name) == _bare(bot),
    )
    for way in ways:
        names_meant = list(filter(way, known))
        if names_meant:
            return names_meant
    return []


def seat_of(bot: str, names: Sequence[str], match_id: str) -> Seat:
    """Return the seat of a bot at a match, by its name or its number.

    Raises `click.ClickException` if no seat or several have this name; the text names the bots.
    """
    names_meant = meant(bot, names)
    seats = [at for at, name in enumerate(names) if name in names_meant]
    if len(seats) == 1:
        return Seat(seats[0])
    if len(names_meant) == 1:
        at = " and ".join(map(str, seats))
        raise click.ClickException(f"{bot!r} sat at the seats {at}: say which")
    if names_meant:
        sat = " or ".join(f"{names[at]} (seat {at})" for at in seats)
        raise click.ClickException(f"{bot!r} may be {sat} at match {match_id}: give the seat")
    if bot.isdecimal() and int(bot) < len(names):
        return Seat(int(bot))
    sat = ", ".join(f"{name} (seat {seat})" for seat, name in enumerate(names))
    raise click.ClickException(f"there was no {bot!r} at match {match_id}: there sat {sat}")


def _bare(name: str) -> str:
    """Return a name without the parts that files and classes add: `my_bot.py` and `MyBot` are `my`."""
    bare = _NO_WORDS.sub("", Path(name).name.casefold().removesuffix(".py"))
    return bare.removesuffix("bot") or bare
