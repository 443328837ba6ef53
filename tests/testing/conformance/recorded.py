"""What the conformance kit has of every game: `python -m tests.testing.conformance.recorded` writes it.

That is one ask of each game, of a match of random moves (of its first turns the one that offers
most), and the lines of two cases that list all games.
"""

import json
import re
from pathlib import Path

from google.protobuf.json_format import MessageToDict

from arena.games.catalogue import GAMES
from arena.referee.wire.games import codec_of
from cardarena.v1.play_pb2 import Ask, Clock
from tests.walks import Walk

KIT = Path(__file__).resolve().parents[3] / "clients" / "conformance"
FOLDER = KIT / "asks"
CASES = KIT / "cases" / "1-stream.json"
MOST_MOVES = 40
"""An ask that offers more is left out: the file is there to be read."""


def recorded(game):
    """The ask of a game that the kit has."""
    codec = codec_of(game)
    best = None
    events = []
    for turn in Walk(game, game.seats[0], "conformance"):
        if turn.before is not None:
            seat = turn.chosen[0][0]
            moves = game.rules.moves(turn.before, seat)
            if len(moves.offered) <= MOST_MOVES:
                view = game.rules.view(turn.before, seat)
                received = [codec.event(each.event) for each in events if each.is_for(seat)]
                body = codec.ask(view, received, moves)
                if best is None or len(moves.offered) > best[0]:
                    best = (len(moves.offered), seat, body)
        events = turn.events
    _, seat, body = best
    head = Ask(
        ask_id=7, match=1, seat=seat, decision=1, clock=Clock(move_ms=10_000, bank_ms=60_000)
    )
    return Ask.FromString(head.SerializeToString(deterministic=True) + body)


def text(game):
    """The file of a game's ask."""
    ask = recorded(game)
    entry = {
        "hex": ask.SerializeToString(deterministic=True).hex(),
        "json": MessageToDict(ask, preserving_proto_field_name=True),
    }
    return json.dumps(entry, indent=1) + "\n"


def with_games(cases):
    """The text of the cases, in which C1-games and C2-games list the games there are."""
    numbered = [(number, game.id) for number, game in enumerate(GAMES, 1)]
    lines = {
        r'(?<="kit", )"games": \[.*?\]': '"games": ['
        + ", ".join(f'{{"game": "{id_}"}}' for _, id_ in numbered)
        + "]",
        r'(?:        {"match_start": {"match": \d+, "game": "\w+"}},\n){4,}': "".join(
            f'        {{"match_start": {{"match": {number}, "game": "{id_}"}}}},\n'
            for number, id_ in numbered
        ),
        r'{"ask": \[{"game".*?\]}': '{"ask": ['
        + ", ".join(
            f'{{"game": "{id_}", "id": {100 + number}, "match": {number}}}'
            for number, id_ in numbered
        )
        + "]}",
        r'{"answers": {"101": "rule", "102": "rule".*?}}': '{"answers": {'
        + ", ".join(f'"{100 + number}": "rule"' for number, _ in numbered)
        + "}}",
    }
    for pattern, fresh in lines.items():
        cases, found = re.subn(pattern, lambda _, fresh=fresh: fresh, cases)
        assert found == 1, f"{found} places look like {pattern}"
    return cases


def main():
    FOLDER.mkdir(exist_ok=True)
    for game in GAMES:
        (FOLDER / f"{game.id}.json").write_text(text(game), "utf-8")
    CASES.write_text(with_games(CASES.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
