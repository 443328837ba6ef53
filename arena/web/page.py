"""A page of the site: values, which a template shows and JSON contains."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

from google.protobuf.message import Message

from arena.referee.wire.message_json import message_json
from arena.web.addresses import Links
from arena.web.rendering import SITE, render

Json: TypeAlias = Mapping[str, Any]
"""Values of a page that its JSON has under the same names."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, which can be rendered for any path of a site."""

    template: str
    title: str
    view: Json
    """The content. The page's JSON is this content."""
    pictures: Mapping[str, Any] = field(default_factory=dict)
    """Further values for the template, which JSON does not have: plots, pictures and filters."""
    description: str = ""
    """A sentence for search engines; empty for that of the site."""
    preview: str = ""
    """The path of its preview; empty if it has none."""
    feed: str = ""
    """The path of its feed; empty if it has none."""

    def html(self, links: Links) -> str:
        title = self.title if self.title == SITE else f"{self.title} · {SITE}"
        return render(
            self.template,
            links,
            title=title,
            heading=self.title,
            view=self.view,
            description=self.description,
            feed=self.feed,
            preview=""
            if links.exported or not self.preview
            else links.outside(self.preview, ".png"),
            **self.pictures,
        )

    def json(self) -> str:
        return as_json(self.view)


def as_json(view: Any) -> str:
    """Return the values of a page as JSON."""
    return json.dumps(view, indent=1, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {attribute.name: getattr(value, attribute.name) for attribute in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Message):
        return message_json(value)
    raise TypeError(f"a page has no JSON for {type(value).__name__}")
