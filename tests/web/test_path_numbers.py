"""Numbers in the paths of routes."""

import re
from pathlib import Path

import pytest
from starlette.routing import Match, Route

import arena.web
import arena.web.path_numbers

NUMBERS = {"0": 0, "12": 12, "999999999": 999_999_999, "1000000000": None, "9" * 5_000: None}


@pytest.mark.parametrize("digits", NUMBERS, ids=lambda digits: digits[:12])
def test_a_number_is_short_enough_for_messages_the_store_and_int(digits):
    route = Route("/x/{number:number}", lambda _: None)
    found, scope = route.matches({"type": "http", "method": "GET", "path": f"/x/{digits}"})
    assert (found is Match.FULL) == (NUMBERS[digits] is not None)
    assert scope.get("path_params", {}).get("number") == NUMBERS[digits]


def test_no_route_has_a_number_of_any_length():
    modules = Path(arena.web.__file__).parent.rglob("*.py")
    assert [path.name for path in modules if re.search(r"\{\w+:int\}", path.read_text())] == []
