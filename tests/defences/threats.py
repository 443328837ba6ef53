"""The table of threats in docs/security.md, as data."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/security.md"


def section(title):
    """The text below a heading of the page."""
    return PAGE.read_text("utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows():
    """The cells of each threat, by its number."""
    found = {}
    for line in section("Threats").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and cells[0].isdigit():
            assert int(cells[0]) not in found, f"threat {cells[0]} stands twice"
            found[int(cells[0])] = cells[1:]
    return found


def named_tests(text):
    """The tests that a text names, each a file and a function, which is empty for a whole file."""
    return re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)


def named_by_rows():
    """The tests that the row of each threat names, as pytest takes them."""
    return {
        number: ["::".join(filter(None, test)) for test in named_tests(cells[-1])]
        for number, cells in rows().items()
    }
