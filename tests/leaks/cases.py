"""The games, seats and options that the gate goes over."""

from arena.games.catalogue import GAMES

# Options beside the shortest match of fixed length, which every game is tried with.
MORE_OPTIONS = {
    "jam": ({"hands": 0, "target": 1},),
    "democracy": ({"hands": 0, "target": 1},),
    "arlington": ({"hands": 0, "target": 4},),
    "loo": ({"hands": 1, "cards": "three"},),
    "soko": ({"hands": 1, "structure": "pot"},),
}


def cases(*, every_seat_count):
    """Game, seats and options, for pytest's parametrize."""
    for game in GAMES:
        counts = game.seats if every_seat_count else sorted({game.seats[0], game.seats[-1]})
        for seats in counts:
            for given in ({"hands": seats}, *MORE_OPTIONS.get(game.id, ())):
                named = ",".join(f"{name}={value}" for name, value in given.items())
                yield f"{game.id}-{seats}-{named}", game, seats, game.options(given, seats)
