"""The tables of the present version of the schema.

A change here needs a migration in `migrations/versions` that makes the same
change to an older file, and a new `HEAD`; a test compares the two.
"""

from typing import Final

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

HEAD: Final = "0005"
"""The revision that these tables are at."""

PLANNED: Final = "planned"
FINISHED: Final = "finished"
ABORTED: Final = "aborted"

BOT_SCOPE: Final = "bot"
ORGANISER_SCOPE: Final = "organiser"

_Json: Final = JSON(none_as_null=True)

METADATA: Final = MetaData()

tournaments: Final = Table(
    "tournaments",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("seed", Text, nullable=False),  # of the seating, and of deals that are not fair
    Column("created", Text, nullable=False),  # ISO 8601, UTC
    # As `arena.wire.terms` writes them; the default is of no use but to older files.
    Column("terms", _Json, nullable=False, server_default="{}"),
)

entrants: Final = Table(
    "entrants",
    METADATA,
    Column("tournament", ForeignKey("tournaments.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("version", Text, nullable=False),
    PrimaryKeyConstraint("tournament", "name"),
)

deal_sets: Final = Table(
    "deal_sets",
    METADATA,
    Column("tournament", ForeignKey("tournaments.id"), nullable=False),
    Column("id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("seed", Text, nullable=False),
    Column("bots", _Json, nullable=False),  # names in seat order at rotation 0
    PrimaryKeyConstraint("tournament", "id"),
    UniqueConstraint("tournament", "number"),
)

matches: Final = Table(
    "matches",
    METADATA,
    Column("id", Text, primary_key=True),  # also the replay's
    Column("tournament", Integer),  # null for a match that was made by hand
    Column("deal_set", Text),  # null for a match alone
    Column("rotation", Integer),
    Column("game", Text, nullable=False),
    Column("bots", _Json, nullable=False),  # names in seat order
    Column("status", Text, nullable=False),
    Column("scores", _Json),  # by seat, as are places; null before there is a result
    Column("places", _Json),
    Column("ending", Text),
    Column("hands", Integer),
    Column("decisions", Integer),
    Column("evidence", Text),
    Column("journal", Text),  # the segment that holds the match's end, and the byte after it
    Column("ended_unix_ms", Integer),
    Column("published", Boolean, nullable=False, server_default=false()),  # there is a replay
    Column("left", _Json),  # by seat, as is the next; null in results from before they were kept
    Column("fallback_share", _Json),
    ForeignKeyConstraint(["tournament", "deal_set"], ["deal_sets.tournament", "deal_sets.id"]),
    UniqueConstraint("tournament", "deal_set", "rotation"),
    CheckConstraint(f"status IN ('{PLANNED}', '{FINISHED}', '{ABORTED}')", name="known_status"),
)
Index("matches_by_end", matches.c.ended_unix_ms, matches.c.id)
Index("matches_of_tournament", matches.c.tournament, matches.c.ended_unix_ms)

match_seats: Final = Table(
    "match_seats",
    METADATA,
    Column("match", ForeignKey("matches.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("bot", Text, nullable=False),
    PrimaryKeyConstraint("match", "seat"),
)
Index("matches_of_bot", match_seats.c.bot, match_seats.c.match)

faults: Final = Table(
    "faults",
    METADATA,
    Column("match", ForeignKey("matches.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("count", Integer, nullable=False),
    PrimaryKeyConstraint("match", "seat", "kind"),
)

names: Final = Table(
    "names",
    METADATA,
    Column("folded", Text, primary_key=True),  # the name without upper case
    Column("name", Text, nullable=False, unique=True),  # of a bot, or of an owner itself
    Column("owner", ForeignKey("names.name"), nullable=False),
)

keys: Final = Table(
    "keys",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("token_sha256", Text, nullable=False, unique=True),  # hexadecimal
    Column("scope", Text, nullable=False),
    Column("owner", ForeignKey("names.name"), nullable=False),
    Column("bot", ForeignKey("names.name")),
    Column("created", Text, nullable=False),  # ISO 8601, UTC, as are the next two
    Column("expires", Text),
    Column("revoked", Text),
    Column("used", Text),  # ISO 8601, a day in UTC
    Column("changed", Integer, nullable=False, unique=True),
    CheckConstraint(f"scope IN ('{BOT_SCOPE}', '{ORGANISER_SCOPE}')", name="known_scope"),
    CheckConstraint(f"(scope = '{BOT_SCOPE}') = (bot IS NOT NULL)", name="a_bot_has_a_name"),
)

# Alembic's own table, as Alembic makes it. Not among the tables above: migrations leave it alone.
revision: Final = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
