"""The filters of lists, from the query of a page and as links."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode

from arena.results.worth import ANY_WORTH, Worth
from arena.web.rendering import game_title

FAULTED: Final = "faulted"
ENDINGS: Final = (
    ("", "all"),
    (ANY_WORTH, "worth watching"),
    (str(Worth.UPSET), "rare wins"),
    (str(Worth.CLOSEST), "closest"),
    (str(Worth.COSTLIEST), "costliest hands"),
    (str(Worth.RECORD), "records"),
    (str(Worth.FORFEIT), "forfeits"),
    (FAULTED, "with faults"),
)
"""The values of the filter by ending, each with its words."""
LONGEST_SEARCH: Final = 64
BOT_ORDERS: Final = (
    ("", "best place"),
    ("name", "name"),
    ("owner", "owner"),
    ("competitions", "most competitions"),
)
"""The orders of the list of bots, each with its words."""


class Filter(NamedTuple):
    """One of several links, of which one is chosen."""

    text: str
    path: str
    chosen: bool


def game_choices(
    games: Sequence[str], chosen: str, path_of: Callable[[str], str]
) -> tuple[Filter, ...]:
    """Links to the list of each game; empty if there is only one."""
    if len(games) < 2 and not chosen:
        return ()
    every = Filter("all games", path_of(""), not chosen)
    return (every, *(Filter(game_title(game), path_of(game), game == chosen) for game in games))


@dataclass(frozen=True, slots=True)
class ListFilters:
    """The filters of a list of matches, competitions or bots, from the query of its page; empty ones do not apply."""

    game: str = ""
    bot: str = ""
    competition: str = ""
    ending: str = ""
    """`faulted`, or a kind of `arena.results.worth`, or `any` of them."""
    margin: str = ""
    """The largest margin of points."""
    owner: str = ""
    order: str = ""
    """Of bots: one of `BOT_ORDERS`."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Read a query; other fields are ignored."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: query.get(name, "").strip()[:LONGEST_SEARCH] for name in names})

    def query(self) -> str:
        """Return the query of a page with these filters; empty without any."""
        given = {name: value for name, value in asdict(self).items() if value}
        return f"?{urlencode(given)}" if given else ""


NO_FILTERS: Final = ListFilters()
