"""Atom feeds of the newest matches: of all, of a competition and of a bot.

A feed has the rows of the list of matches, and so no match of an open deal-set.
"""

import re
from datetime import UTC, datetime
from typing import Final

from arena.api.site_archive import SiteArchive
from arena.web.addresses import Links, NoSuchPage, unslug
from arena.web.pages.lists import known_bots, match_rows
from arena.web.rendering import SITE, render
from cardarena.v1 import lobby_pb2

MEDIA: Final = "application/atom+xml; charset=utf-8"
_OF_ONE: Final = re.compile(r"(bots|competitions)/([A-Za-z0-9_~-]+)")


def feed(archive: SiteArchive, path: str, address: str = "") -> str:
    """Make the feed of the page at a path: `matches`, `bots/NAME` or `competitions/NAME`.

    Raises `NoSuchPage` if it has no feed, and `NotPublic` if there is no such competition.
    """
    title, wanted = SITE, lobby_pb2.MatchFilter()
    if path != "matches":
        named = _OF_ONE.fullmatch(path)
        if named is None:
            raise NoSuchPage("only matches, a bot and a competition have a feed")
        name = unslug(named[2])
        title = f"{name} · {SITE}"
        if named[1] == "bots":
            if name not in {*archive.bots(), *known_bots(archive)}:
                raise NoSuchPage(f"no bot named {name!r} has played a match here", "bots")
            wanted = lobby_pb2.MatchFilter(bots=[name])
        else:
            archive.competition(name)
            wanted = lobby_pb2.MatchFilter(competition=name)
    listed, _ = archive.listed(wanted, by_others=not wanted.bots)
    entries = [
        (row, _rfc3339(of_list.match.ended_unix_ms))
        for row, of_list in zip(match_rows(listed), listed, strict=True)
    ]
    latest = max((time for _, time in entries), default=_rfc3339(0))
    links = Links(path, address=address)
    return render("feed.xml", links, title=title, path=path, entries=entries, latest=latest)


def _rfc3339(unix_ms: int) -> str:
    return f"{datetime.fromtimestamp(unix_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
