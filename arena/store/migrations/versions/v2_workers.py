"""Begins of deal-sets at workers, and keys of workers."""

import sqlalchemy as sa
from alembic import op

revision = "v2"
down_revision = "v1"


def upgrade() -> None:
    """Add the columns, and the scope."""
    op.add_column("deal_sets", sa.Column("begin", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("deal_sets", sa.Column("player", sa.Text()))
    with op.batch_alter_table("keys") as keys:
        keys.drop_constraint("known_scope", type_="check")
        keys.create_check_constraint(
            "known_scope", "scope IN ('bot', 'organiser', 'owner', 'worker')"
        )
