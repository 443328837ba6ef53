"""Every match, also those made by hand; and the terms of a tournament as one value."""

import json

from alembic import op
from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    false,
    text,
)

revision = "0004"
down_revision = "0003"

# What every match was played by before these were part of its terms.
FAULT_LIMIT = 10
AWAY_LIMIT_MS = 60_000


def upgrade() -> None:
    """Make the tables anew, and move what was in them."""
    _tournaments()
    op.create_table(
        "new_matches",
        Column("id", Text, primary_key=True),
        Column("tournament", Integer),
        Column("deal_set", Text),
        Column("rotation", Integer),
        Column("game", Text, nullable=False),
        Column("bots", JSON, nullable=False),
        Column("status", Text, nullable=False),
        Column("scores", JSON),
        Column("places", JSON),
        Column("ending", Text),
        Column("hands", Integer),
        Column("decisions", Integer),
        Column("evidence", Text),
        Column("journal", Text),
        Column("ended_unix_ms", Integer),
        Column("published", Boolean, nullable=False, server_default=false()),
        ForeignKeyConstraint(["tournament", "deal_set"], ["deal_sets.tournament", "deal_sets.id"]),
        UniqueConstraint("tournament", "deal_set", "rotation"),
        CheckConstraint("status IN ('planned', 'finished', 'aborted')", name="known_status"),
    )
    op.create_table(
        "match_seats",
        Column("match", Text, ForeignKey("new_matches.id"), nullable=False),
        Column("seat", Integer, nullable=False),
        Column("bot", Text, nullable=False),
        PrimaryKeyConstraint("match", "seat"),
    )
    op.create_table(
        "new_faults",
        Column("match", Text, ForeignKey("new_matches.id"), nullable=False),
        Column("seat", Integer, nullable=False),
        Column("kind", Text, nullable=False),
        Column("count", Integer, nullable=False),
        PrimaryKeyConstraint("match", "seat", "kind"),
    )
    op.execute(
        "INSERT INTO new_matches (id, tournament, deal_set, rotation, game, bots, status, scores,"
        " places, ending, hands, decisions, evidence, journal, published)"
        " SELECT matches.id, tournament, deal_set, rotation,"
        " (SELECT json_extract(terms, '$.game') FROM tournaments"
        "  WHERE tournaments.id = tournament),"
        " bots, status, scores, places, ending, hands,"
        " CASE WHEN hands IS NULL THEN NULL ELSE 0 END,"
        " evidence, journal, replay IS NOT NULL FROM matches"
    )
    op.execute(
        'INSERT INTO new_faults ("match", seat, kind, count)'
        ' SELECT "match", seat, kind, count FROM faults'
    )
    connection = op.get_bind()
    for match, bots in connection.execute(text("SELECT id, bots FROM new_matches")).all():
        for seat, bot in enumerate(json.loads(bots)):
            connection.execute(
                text('INSERT INTO match_seats ("match", seat, bot) VALUES (:match, :seat, :bot)'),
                {"match": match, "seat": seat, "bot": bot},
            )
    op.drop_table("faults")
    op.drop_table("matches")
    op.rename_table("new_matches", "matches")
    op.rename_table("new_faults", "faults")
    op.create_index("matches_by_end", "matches", ["ended_unix_ms", "id"])
    op.create_index("matches_of_tournament", "matches", ["tournament", "ended_unix_ms"])
    op.create_index("matches_of_bot", "match_seats", ["bot", "match"])


def _tournaments() -> None:
    """Put what a tournament is played by into one column."""
    op.add_column("tournaments", Column("terms", JSON, nullable=False, server_default="{}"))
    connection = op.get_bind()
    rows = connection.execute(
        text("SELECT id, game, rules_version, options, time_control, seats, fair FROM tournaments")
    ).all()
    for number, game, rules_version, options, time_control, seats, fair in rows:
        terms = {
            "game": game,
            "rules_version": rules_version,
            "options": json.loads(options),
            "seats": seats,
            "time_control": json.loads(time_control),
            "fault_limit": FAULT_LIMIT,
            "away_limit_ms": AWAY_LIMIT_MS,
            "seeded": not fair,
        }
        connection.execute(
            text("UPDATE tournaments SET terms = :terms WHERE id = :number"),
            {"terms": json.dumps(terms), "number": number},
        )
    for name in ("game", "rules_version", "options", "time_control", "seats", "fair"):
        op.drop_column("tournaments", name)
