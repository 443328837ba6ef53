"""The page's script in a node process of its own."""

import os
import shutil

import pytest

from tests.browser.node import Node


@pytest.fixture(scope="session")
def node():
    if shutil.which("node") is None:
        missing = "node is not installed: the browser's verifier was not run"
        if os.environ.get("CI"):
            pytest.fail(f"{missing}, and CI must run it")
        pytest.skip(missing)
    with Node() as running:
        yield running
