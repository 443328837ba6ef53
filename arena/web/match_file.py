"""A match as one file that a browser opens without a server: all its hands, for all its viewers.

The pictures are compressed, and `match.js` unpacks them and shows the viewer and the hand of the address. So the
file needs a script; the pages of `arena web` do not.
"""

import base64
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from arena.games.catalogue import game_by_id
from arena.replay.frames import viewer_frames
from arena.scenes import AnyViewer
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
from arena.web.steps import Pack, Step, step_row, steps_of


def match_file(found: FinishedMatch, offered: Sequence[AnyViewer], competition: str = "") -> str:
    """The file of a match in a site, as HTML.

    Raises:
      Damaged: if the replay has no end of the match.
    """
    links = Links(match_path(found.replay.opened.match_id))
    rules = rules_link(links, found.replay.opened.terms.game)
    page = _page(found, offered, result_of(found, offered[0], competition))
    return page.html(HandLinks(match_query, rules, links))


def write_match(found: FinishedMatch, folder: Path) -> Path:
    """Write the file of a match outside of a site with what it loads, and return its path.

    Raises:
      OSError: if the folder cannot be written.
      Damaged: if the replay has no end of the match.
    """
    # Imported here, because no other page of a match needs it.
    from arena.web.markdown import game_rules

    game, opened = game_by_id(found.replay.opened.terms.game), found.replay.opened
    for name in ("arena.css", "viewer.js", "match.js"):
        (folder / name).write_bytes(asset(name)[1])
    rules = render("rules.html", None, title=f"{game.title}: rules", rules=game_rules(game))
    (folder / "rules.html").write_text(rules, "utf-8")
    written = folder / f"{slug(opened.match_id)}.html"
    page = _page(found, all_viewers(len(found.replay.names)), None)
    written.write_text(page.html(HandLinks(match_query, "rules.html")), "utf-8")
    return written


def _page(
    found: FinishedMatch, offered: Sequence[AnyViewer], result: MatchResult | None
) -> HandPage:
    heading, costliest = heading_of(found.replay, found.problem), costliest_hand(found, offered[0])
    packed = _packed(found, offered)
    return HandPage(heading, offered[0], offered, 0, found.hands, (), costliest, result, packed)


def _packed(found: FinishedMatch, offered: Sequence[AnyViewer]) -> str:
    """The steps for all viewers as compressed JSON in base64; they share a pool of trees."""
    pack = Pack()
    viewers = {
        viewer_name(viewer): [
            [step_row(pack, step) for step in of_hand] for of_hand in _hands(found, viewer)
        ]
        for viewer in offered
    }
    rows = json.dumps(viewers, separators=(",", ":"), ensure_ascii=False)
    whole = f'{{"viewers":{rows},"pool":{pack.pool()}}}'
    return base64.b64encode(gzip.compress(whole.encode(), mtime=0)).decode()


def _hands(found: FinishedMatch, viewer: AnyViewer) -> Sequence[Sequence[Step]]:
    replay, terms = found.replay, found.replay.spec().terms
    seen = viewer_frames(found.frames, viewer, terms.options, terms.seats)
    hands: list[list[Step]] = [[] for _ in range(found.hands)]
    for step in steps_of(seen, viewer, replay.names, terms.time_control.bank_ms / 1000):
        hands[min(step.hand, found.hands - 1)].append(step)
    return hands
