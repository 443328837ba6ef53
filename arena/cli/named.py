"""Matches and bots as people name them.

A match is its id, a beginning of it that no other has, `last`, or its replay file. A
bot is its name, its seat, its file or its class: who starts `my_bot.py` sees it
listed as `my`, and as `MyBot` if it dials in by itself.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click

from arena.cli.arguments import plain_errors
from arena.cli.near import MOST, nearest
from arena.games.contract import Seat
from arena.replay.read import REPLAY_SUFFIX, replay_path
from arena.server.data_folder import store_path
from arena.store import MatchFilter, is_there, open_store

LAST: Final = "last"
REPLAYS: Final = "replays"
_NO_WORDS: Final = re.compile(r"[^a-z0-9]+")


def replay_of(match: str, data: Path) -> Path:
    """The replay file of a match in the folder `data`, or that is a file itself.

    Raises:
      click.ClickException: if no match is meant, or several are, or it has no replay.
    """
    path = Path(match)
    if names_a_file(match):
        return path
    found = published(match, data)
    if found is not None:
        return found
    folder = data / REPLAYS
    near = nearest(match, (each.stem for each in _newest_first(folder)))
    raise click.ClickException(f"there is no replay of a match {match!r} in {folder}; {near}")


def names_a_file(match: str) -> bool:
    """Whether a match is given as its replay file."""
    path = Path(match)
    named = path.suffix == REPLAY_SUFFIX or len(path.parts) > 1 or path.exists()
    return named and match not in ("", LAST)


def published(match: str, data: Path) -> Path | None:
    """The replay of a match in a data folder; None if it has none.

    Raises:
      click.ClickException: if there is no such folder, several matches are meant, or `last`
        is, and there is none.
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
    found = [each for each in _newest_first(folder) if each.stem.startswith(match)]
    exact = [each for each in found if each.stem == match]
    if len(exact or found) > 1:
        ids = ", ".join(each.stem for each in found[:MOST])
        more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
        raise click.ClickException(f"{match!r} begins the ids of several matches: {ids}{more}")
    return next(iter(exact or found), None)


def require_folder(data: Path) -> None:
    """See that there is a data folder, for commands that make none.

    Raises:
      click.ClickException: if there is not.
    """
    if not data.is_dir():
        raise click.ClickException(f"there is no folder {data}: name an arena's data with --data")


def _last(data: Path) -> Path | None:
    """The replay of the match that ended last."""
    there = {each.stem: each for each in _newest_first(data / REPLAYS)}
    if is_there(store_path(data)):
        with plain_errors(), open_store(store_path(data)) as store:
            for each in store.matches().find(MatchFilter(published=True)):
                if each.outcome.match_id in there:
                    return there[each.outcome.match_id]
    return next(iter(there.values()), None)


def _newest_first(folder: Path) -> list[Path]:
    written = ((each.stat().st_mtime_ns, each) for each in folder.glob(f"*{REPLAY_SUFFIX}"))
    return [each for _, each in sorted(written, reverse=True)]


# Bots.


def meant(bot: str, names: Iterable[str]) -> list[str]:
    """The names that somebody may mean, who says it as the file or the class does."""
    known = list(dict.fromkeys(names))
    for same in (str, str.casefold, _bare):
        found = [name for name in known if same(name) == same(bot)]
        if found:
            return found
    return []


def seat_of(bot: str, names: Sequence[str], match_id: str) -> Seat:
    """The seat at a match of a bot, by its name or its number.

    Raises:
      click.ClickException: if nobody is meant, or several are, with who sat there.
    """
    found = meant(bot, names)
    seats = [at for at, name in enumerate(names) if name in found]
    if len(seats) == 1:
        return Seat(seats[0])
    if len(found) == 1:
        at = " and ".join(map(str, seats))
        raise click.ClickException(f"{bot!r} sat at the seats {at}: say which")
    if found:
        sat = " or ".join(f"{names[at]} (seat {at})" for at in seats)
        raise click.ClickException(f"{bot!r} may be {sat} at match {match_id}: give the seat")
    if bot.isdecimal() and int(bot) < len(names):
        return Seat(int(bot))
    sat = ", ".join(f"{name} (seat {seat})" for seat, name in enumerate(names))
    raise click.ClickException(f"there was no {bot!r} at match {match_id}: there sat {sat}")


def _bare(name: str) -> str:
    """A name without what file, class and bot add to it: `my_bot.py` and `MyBot` are `my`."""
    bare = _NO_WORDS.sub("", Path(name).name.casefold().removesuffix(".py"))
    return bare.removesuffix("bot") or bare
