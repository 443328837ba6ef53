"""A page of words and tables, and the same as JSON."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.web.document import SITE, Place, document, page_keys
from arena.web.trees import Element, Tree, element


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page: what is on it, and what of that a program would want."""

    title: str
    parts: tuple[Tree, ...]
    data: Mapping[str, Any]
    with_cards: bool = False
    scripts: tuple[str, ...] = ()
    heading: tuple[Tree, ...] = field(default=())
    """Instead of the title, where that has names of bots."""

    def html(self, place: Place) -> str:
        """The page as it stands at a place of its site."""
        head = element("h1", "", *(self.heading or (self.title,)))
        main = element("div", "page sheet", head, *self.parts)
        named = [each for each in (self.title, SITE) if each != SITE]
        return document(
            main,
            title=" · ".join([*named, SITE]),
            place=place,
            scripts=("site.js", *self.scripts),
            after=f"<footer>{page_keys()}</footer>\n",
            with_cards=self.with_cards,
        )

    def json(self) -> str:
        """The same for a program."""
        return json.dumps(self.data, indent=1, ensure_ascii=False) + "\n"


def table_of(
    caption: str,
    columns: Sequence[Tree],
    rows: Sequence[Sequence[Tree]],
    *,
    numbers: Collection[int] = (),
    phone: Collection[int] | None = None,
    ruled: Collection[int] = (),
) -> Element:
    """A table.

    Args:
      caption: What it is a table of.
      columns: What stands at the head of each.
      rows: The cells.
      numbers: Which columns have figures.
      phone: Which columns a narrow screen keeps; None keeps all.
      ruled: Rows that have a rule above.
    """

    def css(column: int, also: str = "") -> str:
        kept = phone is None or column in phone
        return " ".join(
            filter(None, ("number" if column in numbers else "", "" if kept else "wide-only", also))
        )

    head = [element("th", css(at), words, scope="col") for at, words in enumerate(columns)]
    body = [
        element(
            "tr",
            "ruled" if number in ruled else "",
            *(element("td", css(at), cell) for at, cell in enumerate(row)),
        )
        for number, row in enumerate(rows)
    ]
    made = element(
        "table",
        "",
        element("caption", "", caption),
        element("thead", "", element("tr", "", *head)),
        element("tbody", "", *body),
    )
    return element("div", "wide", made, role="region", aria_label=caption, tabindex="0")
