"""Deal-sets are leased to whoever plays them, and complete when all of it was reported."""

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, Text

revision = "0006"
down_revision = "0005"


UNIX_MS = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    """Add the columns. All deal-sets wait: one that has its results is reported when it is leased."""
    for column in (
        Column("state", Text, nullable=False, server_default="waiting"),
        Column("holder", Text),
        Column("epoch", Integer, nullable=False, server_default="0"),
        Column("until_unix_ms", UNIX_MS),
        Column("attempts", Integer, nullable=False, server_default="0"),
        Column("report_sha256", Text),
    ):
        op.add_column("deal_sets", column)
    op.create_index("deal_sets_to_lease", "deal_sets", ["tournament", "state", "number"])
