"""Competitions: what was asked for, who entered, which games they play, and their official tables."""

from alembic import op
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ForeignKey,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
)

revision = "0008"
down_revision = "0007"


UNIX_MS = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables. Deal-sets of tournaments are rotations, and of no round."""
    op.create_table(
        "competitions",
        Column("id", Integer, primary_key=True),
        Column("name", Text, nullable=False, unique=True),
        Column("config", Text, nullable=False),
        Column("config_sha256", Text, nullable=False),
        Column("state", Text, nullable=False),
        Column("organiser", Text, nullable=False),
        Column("created", Text, nullable=False),
    )
    op.create_table(
        "competition_games",
        Column("competition", Integer, ForeignKey("competitions.id"), nullable=False),
        Column("number", Integer, nullable=False),
        Column("tournament", Integer, ForeignKey("tournaments.id"), nullable=False),
        PrimaryKeyConstraint("competition", "number"),
        UniqueConstraint("tournament"),
    )
    op.create_table(
        "candidates",
        Column("competition", Integer, ForeignKey("competitions.id"), nullable=False),
        Column("name", Text, nullable=False),
        Column("owner", Text, nullable=False),
        Column("kind", Text, nullable=False),
        Column("command", Text, nullable=False),
        Column("version", Text, nullable=False),
        Column("seed", Integer, nullable=False),
        Column("entered_unix_ms", UNIX_MS, nullable=False),
        Column("out", Text),
        Column("out_after", JSON),
        Column("reason", Text, nullable=False, server_default=""),
        Column("present", JSON),
        Column("away", Text),
        PrimaryKeyConstraint("competition", "name"),
    )
    op.create_table(
        "frozen_tables",
        Column("competition", Integer, ForeignKey("competitions.id"), nullable=False),
        Column("number", Integer, nullable=False),
        Column("body", Text, nullable=False),
        Column("record", Text, nullable=False),
        Column("inputs_sha256", Text, nullable=False),
        Column("public_key", Text, nullable=False),
        Column("signature", Text, nullable=False),
        Column("at_unix_ms", UNIX_MS, nullable=False),
        PrimaryKeyConstraint("competition", "number"),
    )
    op.create_table(
        "questions",
        Column("id", Integer, primary_key=True),
        Column("owner", Text, nullable=False),
        Column("asked_unix_ms", UNIX_MS, nullable=False),
        Column("ask", JSON, nullable=False),
        Column("state", Text, nullable=False),
        Column("why", Text, nullable=False, server_default=""),
        Column("core_time", UNIX_MS, nullable=False, server_default="0"),
        Column("margins", JSON, nullable=False),
    )
    op.create_index("questions_of_owner", "questions", ["owner", "id"])
    for column in (
        Column("round", Integer, nullable=False, server_default="0"),
        Column("shape", Text, nullable=False, server_default="rotation"),
        Column("inputs_sha256", Text),
    ):
        op.add_column("deal_sets", column)
