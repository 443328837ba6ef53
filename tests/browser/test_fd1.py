"""The page's own protocol agrees with the published vectors and with the arena's, byte for byte."""

import json
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest

from arena.games.catalogue import GAMES
from arena.referee.deal import first_pack, plan_hash, rules_hash, seeded_key
from tests.browser import PAGE, with_schema
from tests.browser.packs import begun, line_of, with_packs
from tests.browser.schema import schema
from tests.referee.deal.test_streams import DRAWS

FD2 = json.loads((Path(__file__).parents[1] / "referee" / "deal" / "fd2_vectors.json").read_text())
GROUPS = json.loads(
    (Path(__file__).parents[1] / "referee" / "deal" / "fd1_vectors.json").read_text()
)


@pytest.mark.parametrize("group", GROUPS, ids=[group["name"] for group in GROUPS])
def test_a_group_of_the_vectors(node, group):
    answer = node.call("vector", **group)
    assert set(answer) == {"ctx", "CS", "commits", "T", "K", "decks"}
    assert answer == {name: group[name] for name in answer}


@pytest.mark.parametrize("group", FD2, ids=[group["name"] for group in FD2])
def test_a_group_of_the_vectors_of_fd2(node, group):
    answer = node.call("views", **{name: group[name] for name in ("ctx", "S", "CS", "r", "salts")})
    assert answer == {name: group[name] for name in answer}


def test_the_order_in_which_bots_are_named_does_not_matter(node):
    group = max(GROUPS, key=lambda group: len(group["r"]))
    backwards = dict(sorted(group["r"].items(), reverse=True))
    answer = node.call("vector", **(group | {"r": backwards}))
    assert list(backwards) != list(group["r"])
    assert (answer["T"], answer["K"]) == (group["T"], group["K"])


def test_the_vectors_hold_every_branch():
    rejected = [board["rejected"] for group in GROUPS for board in group["decks"]]
    assert 0 in rejected
    assert max(rejected) > 50
    assert any("" in group["r"].values() for group in GROUPS)  # a bot that adds no entropy
    assert any(len(group["deck"]) > 256 for group in GROUPS)  # draws of two bytes


def test_draws_take_the_fewest_bytes(node):
    answers = node.call("draws", rows=[{"n": n, "given": given} for n, given, *_ in DRAWS])
    assert answers == [{"drawn": drawn, "used": used} for _, _, drawn, used, _ in DRAWS]


# fmt: off
SETTINGS = [
    ({},                                                   "no options"),
    ({"hands": "2", "target": "500"},                      "numbers"),
    ({"b": "x", "a": "y", "a_b": "z", "a1": "w", "A": "v"}, "names whose order is by bytes"),
    ({"x": "\uffff", "y": "\U0001f0a1"},                   "texts beyond ASCII"),
    ({"a": "\U0001f0a1", "a\uffff": "", "a\U0001f0a1": ""}, "code points that UTF-16 would reorder"),
]
# fmt: on


@pytest.mark.parametrize(("settings", "why"), SETTINGS, ids=[row[1] for row in SETTINGS])
def test_hashes_of_rules_plan_and_seed_are_the_arenas(node, settings, why):
    salt, plan, seed = bytes(range(32)), f"m1 0 {quote(why)}/0\nm2 1 b/0", f"seed {why} é"
    rules = {"game": "abstrac", "version": 7, "settings": settings}
    assert node.call("hashes", rules=rules, plan=plan, salt=salt, seed=seed) == {
        "rules": rules_hash("abstrac", 7, settings).hex(),
        "plan": plan_hash(plan, salt).hex(),
        "seeded": seeded_key(seed).hex(),
    }


def test_names_are_quoted_as_in_plans(node):
    names = [*map(chr, range(1, 300)), "a b/c", "~._-", "Zoë 🂡", "%20"]
    assert node.call("quoted", names=names) == [quote(name, safe="") for name in names]


def test_checksums_are_crc_32(node):
    texts = [b"", b"123456789", bytes(range(256)) * 3]
    assert node.call("crc32", texts=texts) == [zlib.crc32(text) for text in texts]


def every_table():
    for game in GAMES:
        for seats in game.seats:
            yield pytest.param(game, seats, id=f"{game.id} {seats} seats")


@pytest.mark.parametrize(("game", "seats"), list(every_table()))
def test_the_page_knows_the_packs_of_every_game(node, game, seats):
    options = game.options({}, seats)
    row = {"game": game.id, "version": game.rules_version, "seats": seats}
    (known,) = node.call("packs", rows=[row])
    assert known["first"] == list(first_pack(game.rules, options, seats))
    shuffles, _ = begun(game, seats)
    assert known["shuffles"] == [{"label": label, "cards": cards} for label, cards in shuffles]


def test_the_page_knows_no_other_games(node):
    assert set(node.call("games")) == {game.id for game in GAMES}
    strangers = [("whist", 1), ("constructor", 1), ("__proto__", 1)]
    strangers += [(game.id, game.rules_version + 1) for game in GAMES]
    strangers += [(game.id, 0) for game in GAMES]
    rows = [{"game": game, "version": version, "seats": 2} for game, version in strangers]
    assert node.call("packs", rows=rows) == [None] * len(rows)


def test_the_line_that_would_be_written_for_a_new_game_is_that_of_each_game():
    text = PAGE.read_text("utf-8")
    assert with_packs(text) == text
    for game in GAMES:
        if game.id != "democracy":  # its packs follow from the seats by a formula there
            without = text.replace(line_of(game), "")
            assert without != text, game.id
            assert with_packs(without) == text


def test_the_messages_are_those_of_the_wire_contract():
    """After a change of proto/: `python -m tests.browser`."""
    text = PAGE.read_text("utf-8")
    assert with_schema(text, schema()) == text
