"""What is always true: a game's page, fair deals, and how programs read all of it."""

from collections.abc import Mapping
from typing import Any, Final

from arena.games.catalogue import Game
from arena.games.options import Setting
from arena.scenes import Viewer
from arena.store import MatchFilter
from arena.web.archive import Archive, known_game
from arena.web.document import Place
from arena.web.match_paths import match_path
from arena.web.pages.lists import match_table
from arena.web.sheet import Sheet, table_of
from arena.web.trees import Tree, element
from arena.web.words import text
from cardarena.v1 import lobby_pb2, play_pb2, replay_pb2, watch_pb2

_FILES: Final = (play_pb2, lobby_pb2, replay_pb2, watch_pb2)


def game(archive: Archive, place: Place, game_id: str) -> Sheet | None:
    """Make `/games/ID`; None if this arena has no such game."""
    # Who plays a hand and reads Markdown is loaded once somebody asks for the page.
    from arena.web.prose import prose
    from arena.web.sample import NAMES, picture

    found = known_game(game_id)
    if found is None:
        return None
    drawn, beat = picture(game_id)
    said: list[Tree] = []
    for line in beat.words():
        said += [*text(line, NAMES), " "]
    found_of_it, _ = archive.matches(MatchFilter(game=game_id, published=True))
    newest = [each for each in found_of_it if each.published]
    parts: list[Tree] = [
        element("p", "lead", found.summary),
        element("div", "picture", drawn),
        element("p", "note", "A hand under way, all cards seen. ", *said),
    ]
    if newest:
        address = place.to(match_path(newest[0].outcome.match_id, Viewer.ALL, 0))
        watch = element("p", "", element("a", "", "Step through the newest match", href=address))
        parts += [watch, match_table(place, "Newest matches", newest[:5])]
    if any(each.game == game_id for each in archive.headlines()):
        words = element("a", "", "The table", href=place.to(f"tables/{game_id}"))
        parts.append(element("p", "", words))
    parts += [
        element("h2", "", "Rules"),
        prose(found.describe().removeprefix("# ").partition("\n")[2]),
        element("h2", "", "Options and their values"),
        _options(found),
        *_to_write_one(found),
    ]
    return Sheet(found.title, tuple(parts), _game_json(found), with_cards=True)


def _options(game: Game) -> Tree:
    rows = [
        (
            element("code", "", each.name),
            value_words(each.default),
            _limits(each),
            _with_code(each.meaning),
        )
        for each in game.settings
    ]
    return table_of("Options of a match", ("option", "default", "values", "meaning"), rows)


def _with_code(words: str) -> Tree:
    """A sentence in which names stand between backticks."""
    parts = enumerate(words.split("`"))
    return element(
        "span", "", *(element("code", "", each) if at % 2 else each for at, each in parts)
    )


def value_words(value: object) -> str:
    """The value of an option."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _limits(setting: Setting) -> str:
    if setting.choices:
        return ", ".join(setting.choices)
    return (
        "yes, no"
        if isinstance(setting.default, bool)
        else f"{setting.minimum} to {setting.maximum}"
    )


def _to_write_one(game: Game) -> list[Tree]:
    code = (
        "import random\n\nimport cardarena\n"
        f"from cardarena import {game.family}\n\n\n"
        f"class MyBot({game.family}.Bot):\n"
        f"    def move(self, ask: {game.family}.Ask) -> {game.family}.Move:\n"
        "        return random.choice(ask.moves)\n\n\n"
        'if __name__ == "__main__":\n    cardarena.run(MyBot)\n'
    )
    play = f".venv/bin/arena play {game.id} my_bot.py sample_bots/random_bot.py"
    return [
        element("h2", "", "Write a bot"),
        element("pre", "", element("code", "", code), tabindex="0"),
        element("pre", "", element("code", "", play), tabindex="0"),
    ]


def _game_json(game: Game) -> Mapping[str, Any]:
    return {
        "game": game.id,
        "title": game.title,
        "summary": game.summary,
        "seats": list(game.seats),
        "rules_version": game.rules_version,
        "options": [
            {
                "name": each.name,
                "default": each.default,
                "minimum": each.minimum,
                "maximum": each.maximum,
                "choices": list(each.choices),
                "meaning": each.meaning,
            }
            for each in game.settings
        ],
    }


def fair(place: Place) -> Sheet:
    """Make `/fair`."""
    verifier = element("a", "", "Open the verifier", href=place.to("verify"))
    return Sheet(
        "Fair deals",
        (
            element(
                "p",
                "lead",
                "No shuffle is chosen by anybody: the arena commits to a secret before play, every bot "
                "adds entropy of its own, and all of it is opened afterwards.",
            ),
            element("p", "", verifier, ", choose a replay file, and it recomputes the packs."),
            element(
                "p",
                "",
                "It is one file that asks the network for nothing: save it, read it, open it from your "
                "disk. A match's page has its replay file below the pictures.",
            ),
            element(
                "p",
                "",
                "The same in a terminal, with every move and the result recomputed as well:",
            ),
            element(
                "pre",
                "",
                element("code", "", ".venv/bin/arena replay verify FILE.replay"),
                tabindex="0",
            ),
        ),
        {"verifier": "/verify.html"},
    )


LIMITS: Final = (
    ("watchers of a match", "1,000"),
    ("watchers in all", "2,000"),
    ("streams of an address", "8"),
    ("messages of a feed", "4 a second"),
    ("rows of a list", "50 a page"),
)
TWINS: Final = (
    ("/matches.json", "matches that ended, newest first; /matches.2.json is the next page"),
    ("/tables.json", "tournaments"),
    ("/t/NAME.json", "one: standings, deal-sets, chances"),
    ("/tables/GAME.json", "the newest table of a game"),
    ("/bots.json, /bots/NAME.json", "bots; also /bots/NAME.lost.json and /bots/NAME.faulted.json"),
    ("/games.json, /games/ID.json", "games and their options"),
    ("/m/ID.json", "one match: scores, who won, faults, times"),
    ("/replays/ID.replay", "its replay, signed"),
    ("/live.json", "what is played now, as far as it may be told"),
    (
        "/m/ID/live.json",
        "a match in play: its last step in words, and whose eyes it may be seen with",
    ),
    ("/m/ID/feed", "server-sent events of a match in play; /m/ID/feed/EYES where hands are open"),
)


def api() -> Sheet:
    """Make `/api`."""
    calls = [
        (element("code", "", f"{service.name}.{method.name}"), comment)
        for service, method, comment in _calls()
    ]
    twins = [(element("code", "", path), words) for path, words in TWINS]
    return Sheet(
        "For programs",
        (
            element(
                "p", "", "Every page ends in .html, and in .json it is the same for a program."
            ),
            table_of("Pages for programs", ("address", "what it has"), twins),
            element(
                "p",
                "",
                "Bots and lobbies speak gRPC; the contract is proto/cardarena/v1, with a comment on "
                "every field.",
            ),
            table_of("Calls", ("call", "from, to"), calls),
            table_of("Limits", ("of", "at most"), LIMITS),
        ),
        {
            "pages": [{"address": path, "what": words} for path, words in TWINS],
            "calls": [f"{service.full_name}/{method.name}" for service, method, _ in _calls()],
            "limits": dict(LIMITS),
        },
    )


def _message(name: str, *, streams: bool) -> str:
    return f"stream of {name}" if streams else name


def _calls() -> list[tuple[Any, Any, str]]:
    return [
        (
            service,
            method,
            ", ".join(
                (
                    _message(method.input_type.name, streams=method.client_streaming),
                    _message(method.output_type.name, streams=method.server_streaming),
                )
            ),
        )
        for module in _FILES
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]
