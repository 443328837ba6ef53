"""The page of a game: a sample hand, rules, options, and a sample bot."""

from dataclasses import dataclass

from arena.games.options import Setting
from arena.store import MatchFilter
from arena.web.page import Page
from arena.web.pages.lists import match_rows
from arena.web.site_archive import SiteArchive, require_game


@dataclass(frozen=True, slots=True)
class GameView:
    """A game."""

    game: str
    title: str
    summary: str
    seats: tuple[int, ...]
    rules_version: int
    options: tuple[Setting, ...]


def game(archive: SiteArchive, game_id: str) -> Page:
    """Make `/games/ID`.

    Raises:
      NoSuchPage: if this arena has no such game.
    """
    # Imported here, because no other page needs them.
    from arena.web.markdown import game_rules
    from arena.web.sample_hand import sample_hand

    found = require_game(game_id)
    picture, sentences = sample_hand(game_id)
    newest, _ = archive.matches(MatchFilter(game=game_id, published=True))
    return Page(
        "game.html",
        found.title,
        GameView(
            game_id, found.title, found.summary, found.seats, found.rules_version, found.settings
        ),
        {
            "picture": picture,
            "sentences": sentences,
            "newest": match_rows([each for each in newest if each.published][:5]),
            "has_standings": bool(archive.of_game(game_id)),
            "rules": game_rules(found),
            "family": found.family,
        },
    )
