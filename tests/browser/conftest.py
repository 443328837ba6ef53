"""The page's script in a node process of its own."""

import pytest

from tests.browser.node import Node
from tests.programs import require


@pytest.fixture(scope="session")
def node():
    require("node")
    with Node() as running:
        yield running
