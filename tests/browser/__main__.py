"""Writes the hashes of the page's script and style into its policy: `python -m tests.browser`."""

from tests.browser import PAGE, with_hashes

if __name__ == "__main__":
    PAGE.write_text(with_hashes(PAGE.read_text("utf-8")), "utf-8")
