"""Whether a tournament's deals are fair, and where the journal has a match's end."""

from alembic import op
from sqlalchemy import Boolean, Column, Text, false

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns. Tournaments so far were dealt from their seed."""
    op.add_column("tournaments", Column("fair", Boolean, nullable=False, server_default=false()))
    op.add_column("matches", Column("journal", Text))
