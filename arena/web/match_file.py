"""A match as one file that a browser opens without a server: all its hands, for all its viewers.

The pictures are compressed, and `match.js` unpacks them and shows the viewer and the hand of the address. Without a
script the file has all hands in words, as its first viewer saw them.
"""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.games.catalogue import game_by_id
from arena.pictures import AnyViewer
from arena.web.addresses import (
    Links,
    all_viewers,
    match_path,
    match_query,
    rules_link,
    slug,
    viewer_name,
)
from arena.web.assets import asset
from arena.web.pages.finished_match import FinishedMatch, costliest_hand, heading_of, result_of
from arena.web.pages.hand import HandLinks, HandPage
from arena.web.pages.match_result import MatchResult
from arena.web.rendering import render
from arena.web.steps import Pack, Step, step_row


def match_file(
    finished: FinishedMatch,
    offered: Sequence[AnyViewer],
    competition: str = "",
    address: str = "",
) -> str:
    """Return the file of a match in a site, as HTML; `address` is that of the site, if it is known.

    Raises `Damaged` if the replay has no end of the match.
    """
    path = match_path(finished.replay.opened.match_id)
    links = Links(path, exported=True, address=address)
    rules = rules_link(links, finished.replay.opened.terms.game)
    page = _page(finished, offered, result_of(finished, offered[0], competition))
    return page.html(HandLinks(match_query, rules, links))


def write_match(finished: FinishedMatch, folder: Path) -> Path:
    """Write the file of a match outside of a site with the assets that it loads, and return its path.

    Raises `OSError` if the folder cannot be written, and `Damaged` if the replay has no end of the match.
    """
    # Imported here, because no other page of a match needs it.
    from arena.web.markdown import game_rules

    game, opened = game_by_id(finished.replay.opened.terms.game), finished.replay.opened
    for name in ("arena.css", "viewer.js", "match.js"):
        (folder / name).write_bytes(asset(name)[1])
    rules = render("rules.html", None, title=f"{game.title}: rules", rules=game_rules(game))
    (folder / "rules.html").write_text(rules, "utf-8")
    written = folder / f"{slug(opened.match_id)}.html"
    page = _page(finished, all_viewers(len(finished.replay.names)), None)
    written.write_text(page.html(HandLinks(match_query, "rules.html")), "utf-8")
    return written


def _page(
    finished: FinishedMatch, offered: Sequence[AnyViewer], result: MatchResult | None
) -> HandPage:
    heading, costliest = heading_of(finished), costliest_hand(finished, offered[0])
    hands = {
        viewer: [finished.steps(viewer, hand) for hand in range(finished.hands)]
        for viewer in offered
    }
    packed = _packed(hands)
    return HandPage(
        heading, offered[0], offered, 0, (), costliest, result, packed, hands[offered[0]]
    )


def _packed(hands: Mapping[AnyViewer, Sequence[Sequence[Step]]]) -> str:
    """Return the steps for all viewers as compressed JSON in base64; they share a pool of trees."""
    pack = Pack()
    viewers = {
        viewer_name(viewer): [[step_row(pack, step) for step in of_hand] for of_hand in of_viewer]
        for viewer, of_viewer in hands.items()
    }
    rows = json.dumps(viewers, separators=(",", ":"), ensure_ascii=False)
    whole = f'{{"viewers":{rows},"pool":{pack.pool()}}}'
    return base64.b64encode(gzip.compress(whole.encode(), mtime=0)).decode()
