"""Keys of bots and organisers, and the names that belong to their owners."""

from alembic import op
from sqlalchemy import CheckConstraint, Column, ForeignKey, Integer, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "names",
        Column("folded", Text, primary_key=True),
        Column("name", Text, nullable=False, unique=True),
        Column("owner", Text, ForeignKey("names.name"), nullable=False),
    )
    op.create_table(
        "keys",
        Column("id", Text, primary_key=True),
        Column("token_sha256", Text, nullable=False, unique=True),
        Column("scope", Text, nullable=False),
        Column("owner", Text, ForeignKey("names.name"), nullable=False),
        Column("bot", Text, ForeignKey("names.name")),
        Column("created", Text, nullable=False),
        Column("expires", Text),
        Column("revoked", Text),
        Column("used", Text),
        Column("changed", Integer, nullable=False, unique=True),
        CheckConstraint("scope IN ('bot', 'organiser')", name="known_scope"),
        CheckConstraint("(scope = 'bot') = (bot IS NOT NULL)", name="a_bot_has_a_name"),
    )
