"""The page of the workers of the arena that runs in the data folder, for organisers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.web.page import Page
from arena.web.site_archive import SiteArchive

if TYPE_CHECKING:
    from arena.server.metrics import WorkerStatus


@dataclass(frozen=True, slots=True)
class WorkersView:
    """The workers now."""

    problem: str
    """Why they are not known; empty if they are."""
    workers: "tuple[WorkerStatus, ...]"


def workers(archive: SiteArchive) -> Page:
    """Make `/workers`."""
    # Imported here, as only organisers have this page.
    from arena.server.arena_status import NoStatus, status_of_folder

    try:
        page = status_of_folder(archive.data).page
    except NoStatus as error:
        view = WorkersView(str(error), ())
    else:
        problem = (
            ""
            if page
            else "the arena serves no metrics, which have its status: start it without --no-metrics"
        )
        view = WorkersView(problem, page.workers if page else ())
    return Page("workers.html", "Workers", view)
