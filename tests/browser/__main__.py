"""Writes what the page has of proto/, and the hashes of its policy: `python -m tests.browser`."""

from tests.browser import PAGE, with_hashes, with_schema
from tests.browser.schema import schema

if __name__ == "__main__":
    PAGE.write_text(with_hashes(with_schema(PAGE.read_text("utf-8"), schema())), "utf-8")
