"""Which seats of a match were left, and how far the fallback played them."""

from alembic import op
from sqlalchemy import JSON, Column

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns. Of results so far it is not known."""
    op.add_column("matches", Column("left", JSON))
    op.add_column("matches", Column("fallback_share", JSON))
