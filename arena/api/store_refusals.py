"""Turns errors of the store, of competitions and of submissions into refusals of calls."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final, ParamSpec, TypeVar

from arena.bots.archive import BadArchive
from arena.bots.manifest import BadManifest
from arena.contests.comparison_requests import BadComparison
from arena.contests.plan import PlanError
from arena.errors import RefusalError
from arena.errors.refused import MAX_LIST_CHARS, Refused
from arena.results.deal_sets import ScheduleError
from arena.results.rounds import DrawError
from arena.store import StoreBusy, StoreError

_log = logging.getLogger(__name__)

_REASONS: Final[Mapping[type[Exception], str]] = {
    BadArchive: "BAD_ARCHIVE",
    BadComparison: "BAD_COMPARISON",
    BadManifest: "BAD_MANIFEST",
    DrawError: "CANNOT_BE_DRAWN",
    ScheduleError: "CANNOT_BE_DRAWN",
}
"""Errors whose texts clients may see. Those of the store itself name files, and are only logged."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


@contextlib.contextmanager
def as_refusals() -> Iterator[None]:
    """Turn errors of the block into refusals. Raises `Refused` with the reason of the error's row."""
    try:
        yield
    except RefusalError as error:
        raise Refused(error.entry.reason, error.detail, retry_s=error.retry_s) from error
    except PlanError as error:
        problems = error.problems
        detail = problems[0] if len(problems) == 1 else "\n  ".join(("", *problems))
        raise Refused("BAD_PLAN", detail, max_chars=MAX_LIST_CHARS) from error
    except tuple(_REASONS) as error:
        raise Refused(_REASONS[type(error)], str(error)) from error
    except StoreBusy as error:
        raise Refused("STORE_BUSY", retry_s=1.0) from error
    except StoreError as error:
        _log.warning("the store failed a call", extra={"why": str(error)})
        raise Refused("STORE_AWAY", retry_s=5.0) from error


async def refusable(found: Awaitable[_T]) -> _T:
    """Await a result; its errors become refusals."""
    with as_refusals():
        return await found


async def on_thread(act: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call a function on another thread and return its result; its errors become refusals."""
    return await refusable(asyncio.to_thread(act, *args, **kwargs))
