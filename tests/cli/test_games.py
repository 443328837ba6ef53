"""The games as people and programs read them."""

import json

from tests.cli.test_expected_errors import arena


def test_an_option_says_which_others_it_needs():
    shown = json.loads(arena("games", "show", "klaberjass", "--json").stdout)
    needs = {option["name"]: option["needs"] for option in shown["options"]}
    assert needs == {"hands": {}, "target": {"hands": [0]}, "max_hands": {"hands": [0]}}


def test_an_option_of_several_numbers_says_so():
    assert "1 to 1000, with commas" in arena("games", "show", "chinese_poker").stdout
