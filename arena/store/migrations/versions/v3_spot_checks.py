"""Second plays of some deal-sets at other workers."""

import sqlalchemy as sa
from alembic import op

revision = "v3"
down_revision = "v2"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "spot_checks",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("match", sa.Text(), sa.ForeignKey("matches.id"), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("checker", sa.Text(), nullable=False),
        sa.Column("scores", sa.JSON(none_as_null=True), nullable=False),
        sa.Column(
            "at_unix_ms", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
    )
    op.create_index("spot_checks_of_match", "spot_checks", ["match"])
