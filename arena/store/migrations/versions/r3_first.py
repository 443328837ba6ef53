"""The first revision: all tables, as `arena.store.schema` made them then.

A new store does not run it, because `schema.METADATA` makes the present tables at once. It is the start of
the chain: the next revision names it in `down_revision`.
"""

revision = "r3"
down_revision = None


def upgrade() -> None:
    """Make nothing: no store is older than this revision."""
