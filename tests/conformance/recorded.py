"""The recorded asks of the conformance kit: `python -m tests.conformance.recorded` writes them.

One ask of each game, of a match of random moves: of its first turns the one that offers most.
"""

import json
from pathlib import Path

from google.protobuf.json_format import MessageToDict

from arena.games.catalogue import GAMES
from arena.wire.games import codec_of
from cardarena.v1.play_pb2 import Ask, Clock
from tests.walks import Walk

FOLDER = Path(__file__).resolve().parents[2] / "clients" / "conformance" / "asks"
MOST_MOVES = 40
"""An ask that offers more is left out: the file is there to be read."""


def recorded(game):
    """The ask of a game that the kit has."""
    codec = codec_of(game)
    best = None
    events = []
    for turn in Walk(game, game.seats[0], "conformance"):
        if turn.state is not None:
            seat = turn.chosen[0][0]
            moves = game.rules.moves(turn.state, seat)
            if len(moves.offered) <= MOST_MOVES:
                view = game.rules.view(turn.state, seat)
                heard = [
                    codec.event(told.event)
                    for told in events
                    if told.seats is None or seat in told.seats
                ]
                body = codec.ask(view, heard, moves)
                if best is None or len(moves.offered) > best[0]:
                    best = (len(moves.offered), seat, body)
        events = turn.step.told
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


def main():
    FOLDER.mkdir(exist_ok=True)
    for game in GAMES:
        (FOLDER / f"{game.id}.json").write_text(text(game), "utf-8")


if __name__ == "__main__":
    main()
