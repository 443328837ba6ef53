"""Writes what the page has of proto/ and of new games, and its policy: `python -m tests.browser`."""

from tests.browser import PAGE, with_hashes, with_schema
from tests.browser.packs import with_packs
from tests.browser.schema import schema

if __name__ == "__main__":
    PAGE.write_text(
        with_hashes(with_packs(with_schema(PAGE.read_text("utf-8"), schema()))), "utf-8"
    )
