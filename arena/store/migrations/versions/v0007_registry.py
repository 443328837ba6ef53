"""Owners, bots, versions and what happened to them; rounds as drawn; what organisers did."""

from alembic import op
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
)

revision = "0007"
down_revision = "0006"


UNIX_MS = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables. Who had a key before is no owner until it is invited."""
    op.create_table(
        "owners",
        Column("name", Text, ForeignKey("names.name"), primary_key=True),
        Column("invited_by", Text, nullable=False),
        Column("created", Text, nullable=False),
        Column("banned", Text),
    )
    op.create_table(
        "invitations",
        Column("code_sha256", Text, primary_key=True),
        Column("invited_by", Text, nullable=False),
        Column("created", Text, nullable=False),
        Column("owner", Text, ForeignKey("owners.name")),
    )
    op.create_table(
        "bots",
        Column("name", Text, ForeignKey("names.name"), primary_key=True),
        Column("owner", Text, ForeignKey("owners.name"), nullable=False),
        Column("kind", Text, nullable=False),
        Column("created", Text, nullable=False),
    )
    op.create_table(
        "versions",
        Column("bot", Text, ForeignKey("bots.name"), nullable=False),
        Column("number", Integer, nullable=False),
        Column("sha256", Text, nullable=False),
        Column("manifest", JSON, nullable=False),
        Column("runtime_sha256", Text, nullable=False),
        Column("parent", Integer),
        PrimaryKeyConstraint("bot", "number"),
        UniqueConstraint("bot", "sha256"),
    )
    op.create_table(
        "version_events",
        Column("id", Integer, primary_key=True),
        Column("bot", Text, nullable=False),
        Column("number", Integer, nullable=False),
        Column("event", Text, nullable=False),
        Column("at_unix_ms", UNIX_MS, nullable=False),
        Column("who", Text, nullable=False),
        Column("reason", Text, nullable=False),
        ForeignKeyConstraint(["bot", "number"], ["versions.bot", "versions.number"]),
    )
    op.create_index("events_of_version", "version_events", ["bot", "number", "id"])
    op.create_table(
        "rounds",
        Column("tournament", Integer, ForeignKey("tournaments.id"), nullable=False),
        Column("number", Integer, nullable=False),
        Column("inputs_sha256", Text, nullable=False),
        PrimaryKeyConstraint("tournament", "number"),
    )
    op.create_table(
        "pairings",
        Column("tournament", Integer, nullable=False),
        Column("round", Integer, nullable=False),
        Column("place", Integer, nullable=False),
        Column("members", JSON, nullable=False),
        Column("bye", Boolean, nullable=False),
        PrimaryKeyConstraint("tournament", "round", "place"),
        ForeignKeyConstraint(["tournament", "round"], ["rounds.tournament", "rounds.number"]),
    )
    op.create_table(
        "audit",
        Column("id", Integer, primary_key=True),
        Column("at_unix_ms", UNIX_MS, nullable=False),
        Column("who", Text, nullable=False),
        Column("what", Text, nullable=False),
        Column("before", JSON),
        Column("after", JSON),
        Column("sha256", Text, nullable=False),
    )
