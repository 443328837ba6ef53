"""Webhooks, their deliveries, and the positions of their sources of events."""

import sqlalchemy as sa
from alembic import op

revision = "r4"
down_revision = "r3"

_UnixMs = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("competition", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("created_unix_ms", _UnixMs, nullable=False),
        sa.Column("due_unix_ms", _UnixMs, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("off", sa.Text, nullable=False),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("webhook", sa.Integer, sa.ForeignKey("webhooks.id"), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("made_unix_ms", _UnixMs, nullable=False),
        sa.Column("waits", sa.Boolean, nullable=False),
        sa.UniqueConstraint("webhook", "event"),
    )
    waiting = ["waits", "webhook", "id"]
    op.create_index("waiting_deliveries", "webhook_deliveries", waiting)
    op.create_table(
        "event_places",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("place", sa.JSON, nullable=False),
    )
