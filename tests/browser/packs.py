"""The packs of every game that the page knows, as its script builds them."""

import random
import re

from arena.games.cards import JOKER, RANKS
from arena.games.catalogue import GAMES
from arena.testing.deals import RecordedDeals, UnshuffledDeals
from tests.games.random_play import random_turns

_SHUFFLES = re.compile(r"(const SHUFFLES = \{\n)(.*?)(\};\n)", re.DOTALL)
_LATER = re.compile(r"const LATER = new Set\(\[(.*?)\]\);")
_GAME = re.compile(r"^  (\w+): ", re.MULTILINE)


def begun(game, seats):
    """The shuffles that a hand begins with, and whether a player chooses something before them."""
    recorded, draw = RecordedDeals(UnshuffledDeals()), random.Random(1)
    later = False
    for _ in random_turns(game.rules, game.options({}, seats), seats, draw, recorded):
        if recorded.shuffles:
            break
        later = True
    dealt = [each for each in recorded.shuffles if "validate" not in each.label]
    return [(each.label, list(each.cards)) for each in dealt], later


def expression(cards):
    """JavaScript for a pack: a call of `pack`, or a list of its cards."""
    for packs in (1, 2, 3):
        one = cards[: len(cards) // packs]
        plain = [card for card in one if card != JOKER]
        ranks = "".join(dict.fromkeys(card[0] for card in plain))
        suits = "".join(dict.fromkeys(card[1] for card in plain))
        jokers = len(one) - len(plain)
        made = [rank + suit for rank in ranks for suit in suits] + [JOKER] * jokers
        if made * packs == cards:
            given = {"suits": f'"{suits}"' * (suits != "cdhs"), "jokers": jokers, "packs": packs}
            options = [f"{name}: {value}" for name, value in given.items() if value not in ("", 0)]
            options = [each for each in options if each != "packs: 1"]
            if ranks == RANKS and not options:
                return "WHOLE"
            first = "RANKS" if ranks == RANKS else f'"{ranks}"'
            return f"pack({first}{', { ' + ', '.join(options) + ' }' if options else ''})"
    return f'"{" ".join(cards)}".split(" ")'


def line_of(game):
    """The line of a game in SHUFFLES."""
    by_seats = {
        seats: ", ".join(
            f'["{label}", {expression(cards)}]' for label, cards in begun(game, seats)[0]
        )
        for seats in game.seats
    }
    if len(set(by_seats.values())) == 1:
        return f"  {game.id}: () => [{by_seats[game.seats[0]]}],\n"
    cases = ", ".join(f"{seats}: [{packs}]" for seats, packs in by_seats.items())
    return f"  {game.id}: (seats) => ({{ {cases} }})[seats],\n"


def with_packs(text):
    """The page with the packs of games that it does not know yet; those that it has stay."""
    found = _SHUFFLES.search(text)
    known = _GAME.findall(found[2])
    new = [game for game in GAMES if game.id not in known]
    lines = sorted([*re.split(r"(?<=,\n)(?=  \w)", found[2]), *map(line_of, new)])
    text = text[: found.start(2)] + "".join(lines) + text[found.end(2) :]
    later = {f'"{game.id}"' for game in new if begun(game, game.seats[0])[1]}
    later |= set(_LATER.search(text)[1].split(", "))
    return _LATER.sub(f"const LATER = new Set([{', '.join(sorted(later))}]);", text)
