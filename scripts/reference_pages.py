"""Writes the pages of docs/ that are generated from code: `.venv/bin/python scripts/reference_pages.py`.

`scripts/proto` runs it too.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import command_page
import data_page
import error_page
import layout_page

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
PAGES: Final[Mapping[Path, Callable[[], str]]] = {
    DOCS / "errors.md": error_page.page,
    DOCS / "reference" / "commands.md": command_page.page,
    DOCS / "reference" / "layouts.md": layout_page.page,
    DOCS / "reference" / "data-sets.md": data_page.page,
}
"""The pages, and the functions that return their texts."""

if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), "utf-8")
