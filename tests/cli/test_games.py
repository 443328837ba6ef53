"""The games as people and programs read them."""

import json

from tests.cli.test_expected_errors import arena


def test_an_option_says_which_others_it_needs():
    shown = json.loads(arena("games", "show", "klaberjass", "--json").stdout)
    needs = {option["name"]: option["needs"] for option in shown["options"]}
    assert needs == {"hands": {}, "target": {"hands": [0]}, "max_hands": {"hands": [0]}}


def test_the_fields_of_the_view_are_shown_with_their_meaning():
    meaning = "Chips in the pot, a multiple of the tricks of a hand."
    shown = json.loads(arena("games", "show", "loo", "--json").stdout)
    assert {"name": "pot", "meaning": meaning} in shown["view"]
    assert f"| `pot` | {meaning} |" in shown["page"]
    assert meaning in " ".join(arena("games", "show", "loo").stdout.split())


def test_an_option_of_several_numbers_says_so():
    assert "1 to 1000, with commas" in arena("games", "show", "chinese_poker").stdout
