"""Keys of owners, whom an invitation is for, and reports of qualifications."""

from alembic import op
from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
)

revision = "0009"
down_revision = "0008"

UNIX_MS = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    """Make the keys anew, as their rule on scopes grows; add the rest."""
    op.create_table(
        "new_keys",
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
        CheckConstraint("scope IN ('bot', 'organiser', 'owner')", name="known_scope"),
        CheckConstraint("(scope = 'bot') = (bot IS NOT NULL)", name="a_bot_has_a_name"),
    )
    op.execute(
        "INSERT INTO new_keys SELECT id, token_sha256, scope, owner, bot, created, expires,"
        " revoked, used, changed FROM keys"
    )
    op.drop_table("keys")
    op.rename_table("new_keys", "keys")
    # Nobody could use an invitation of before, as no call took its code: it is for nobody.
    op.add_column("invitations", Column("invited", Text, nullable=False, server_default=""))
    op.create_table(
        "reports",
        Column("bot", Text, nullable=False),
        Column("number", Integer, nullable=False),
        Column("made_unix_ms", UNIX_MS, nullable=False),
        Column("report", JSON, nullable=False),
        PrimaryKeyConstraint("bot", "number"),
        ForeignKeyConstraint(["bot", "number"], ["versions.bot", "versions.number"]),
    )
