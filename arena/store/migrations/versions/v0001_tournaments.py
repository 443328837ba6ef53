"""The first tables: tournaments, entrants, deal-sets, matches and faults."""

from alembic import op
from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
)

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "tournaments",
        Column("id", Integer, primary_key=True),
        Column("name", Text, nullable=False, unique=True),
        Column("game", Text, nullable=False),
        Column("rules_version", Integer, nullable=False),
        Column("options", JSON, nullable=False),
        Column("time_control", JSON, nullable=False),
        Column("seats", Integer, nullable=False),
        Column("seed", Text, nullable=False),
        Column("created", Text, nullable=False),
    )
    op.create_table(
        "entrants",
        Column("tournament", Integer, ForeignKey("tournaments.id"), nullable=False),
        Column("name", Text, nullable=False),
        Column("command", Text, nullable=False),
        Column("version", Text, nullable=False),
        PrimaryKeyConstraint("tournament", "name"),
    )
    op.create_table(
        "deal_sets",
        Column("tournament", Integer, ForeignKey("tournaments.id"), nullable=False),
        Column("id", Text, nullable=False),
        Column("number", Integer, nullable=False),
        Column("seed", Text, nullable=False),
        Column("bots", JSON, nullable=False),
        PrimaryKeyConstraint("tournament", "id"),
        UniqueConstraint("tournament", "number"),
    )
    op.create_table(
        "matches",
        Column("tournament", Integer, nullable=False),
        Column("id", Text, nullable=False),
        Column("deal_set", Text, nullable=False),
        Column("rotation", Integer, nullable=False),
        Column("bots", JSON, nullable=False),
        Column("status", Text, nullable=False),
        Column("scores", JSON),
        Column("places", JSON),
        Column("ending", Text),
        Column("hands", Integer),
        Column("replay", Text),
        Column("evidence", Text),
        PrimaryKeyConstraint("tournament", "id"),
        ForeignKeyConstraint(["tournament", "deal_set"], ["deal_sets.tournament", "deal_sets.id"]),
        UniqueConstraint("tournament", "deal_set", "rotation"),
        CheckConstraint("status IN ('planned', 'finished', 'aborted')", name="known_status"),
    )
    op.create_table(
        "faults",
        Column("tournament", Integer, nullable=False),
        Column("match", Text, nullable=False),
        Column("seat", Integer, nullable=False),
        Column("kind", Text, nullable=False),
        Column("count", Integer, nullable=False),
        PrimaryKeyConstraint("tournament", "match", "seat", "kind"),
        ForeignKeyConstraint(["tournament", "match"], ["matches.tournament", "matches.id"]),
    )
