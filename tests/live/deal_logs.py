"""What the log of deals of an arena that has stopped says."""

from arena.records.deal_book import read_log


def contexts(folder):
    """The deals that were committed to, in their order, and why each is void; None if it is not."""
    log = read_log(folder / "commitments")
    void = {context: opened.void_reason for context, opened in log.opened.items()}
    return [(context, void.get(context)) for context in log.committed]
