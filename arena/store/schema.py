"""The tables of the present version of the schema.

A change here needs a migration in `migrations/versions` that makes the same
change to an older file, and a new `HEAD`; a test compares the two.
"""

from typing import Final

from sqlalchemy import (
    JSON,
    BigInteger,
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

HEAD: Final = "0009"
"""The revision that these tables are at."""

PLANNED: Final = "planned"
FINISHED: Final = "finished"
ABORTED: Final = "aborted"

WAITING: Final = "waiting"
LEASED: Final = "leased"
COMPLETE: Final = "complete"
GIVEN_UP: Final = "given up"
VOID: Final = "void"
"""Not to be played any more, as a bot of it went out of its competition."""

BOT_SCOPE: Final = "bot"
ORGANISER_SCOPE: Final = "organiser"
OWNER_SCOPE: Final = "owner"

_Json: Final = JSON(none_as_null=True)

# Milliseconds since 1970 need over 31 bits; SQLite's INTEGER has 63.
_UnixMs: Final = BigInteger().with_variant(Integer(), "sqlite")

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
    Column("state", Text, nullable=False, server_default=WAITING),
    Column("holder", Text),  # the worker that plays it; null unless it is leased
    Column("epoch", Integer, nullable=False, server_default="0"),  # leases so far
    Column("until_unix_ms", _UnixMs),  # when the lease ends by itself
    Column("attempts", Integer, nullable=False, server_default="0"),  # leases since the last start
    Column("report_sha256", Text),  # of what was reported; null unless it is complete
    Column("round", Integer, nullable=False, server_default="0"),  # 0 where there are none
    Column("shape", Text, nullable=False, server_default="rotation"),
    Column("inputs_sha256", Text),  # of all that a ladder's draw was made from
    PrimaryKeyConstraint("tournament", "id"),
    UniqueConstraint("tournament", "number"),
)
Index("deal_sets_to_lease", deal_sets.c.tournament, deal_sets.c.state, deal_sets.c.number)

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
    Column("ended_unix_ms", _UnixMs),
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
    CheckConstraint(
        f"scope IN ('{BOT_SCOPE}', '{ORGANISER_SCOPE}', '{OWNER_SCOPE}')", name="known_scope"
    ),
    CheckConstraint(f"(scope = '{BOT_SCOPE}') = (bot IS NOT NULL)", name="a_bot_has_a_name"),
)

owners: Final = Table(
    "owners",
    METADATA,
    Column("name", ForeignKey("names.name"), primary_key=True),
    Column("invited_by", Text, nullable=False),
    Column("created", Text, nullable=False),  # ISO 8601, UTC
    Column("banned", Text),  # why; null is not
)

invitations: Final = Table(
    "invitations",
    METADATA,
    Column("code_sha256", Text, primary_key=True),
    Column("invited_by", Text, nullable=False),
    Column("created", Text, nullable=False),  # ISO 8601, UTC
    Column("owner", ForeignKey("owners.name")),  # who registered with it; null is nobody yet
    # The name that it is for; the default is of no use but to older files.
    Column("invited", Text, nullable=False, server_default=""),
)

bots: Final = Table(
    "bots",
    METADATA,
    Column("name", ForeignKey("names.name"), primary_key=True),
    Column("owner", ForeignKey("owners.name"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("created", Text, nullable=False),  # ISO 8601, UTC
)

versions: Final = Table(
    "versions",
    METADATA,
    Column("bot", ForeignKey("bots.name"), nullable=False),
    Column("number", Integer, nullable=False),  # from 1
    Column("sha256", Text, nullable=False),  # of its contents
    Column("manifest", _Json, nullable=False),
    Column("runtime_sha256", Text, nullable=False),  # empty where there is no runtime of ours
    Column("parent", Integer),  # the version that was active when it was submitted
    PrimaryKeyConstraint("bot", "number"),
    UniqueConstraint("bot", "sha256"),
)

version_events: Final = Table(
    "version_events",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("bot", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("event", Text, nullable=False),
    Column("at_unix_ms", _UnixMs, nullable=False),
    Column("who", Text, nullable=False),
    Column("reason", Text, nullable=False),
    ForeignKeyConstraint(["bot", "number"], ["versions.bot", "versions.number"]),
)
Index("events_of_version", version_events.c.bot, version_events.c.number, version_events.c.id)

reports: Final = Table(
    "reports",
    METADATA,
    Column("bot", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("made_unix_ms", _UnixMs, nullable=False),
    Column("report", _Json, nullable=False),  # as `arena.competition.report` writes it
    PrimaryKeyConstraint("bot", "number"),
    ForeignKeyConstraint(["bot", "number"], ["versions.bot", "versions.number"]),
)

rounds: Final = Table(
    "rounds",
    METADATA,
    Column("tournament", ForeignKey("tournaments.id"), nullable=False),
    Column("number", Integer, nullable=False),  # from 1
    Column("inputs_sha256", Text, nullable=False),  # of all that the draw was made from
    PrimaryKeyConstraint("tournament", "number"),
)

pairings: Final = Table(
    "pairings",
    METADATA,
    Column("tournament", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("place", Integer, nullable=False),  # in the round, from 0; byes follow the groups
    Column("members", _Json, nullable=False),  # names of bots
    Column("bye", Boolean, nullable=False),
    PrimaryKeyConstraint("tournament", "round", "place"),
    ForeignKeyConstraint(["tournament", "round"], ["rounds.tournament", "rounds.number"]),
)

competitions: Final = Table(
    "competitions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("config", Text, nullable=False),  # the organiser's TOML; never changed
    Column("config_sha256", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("organiser", Text, nullable=False),
    Column("created", Text, nullable=False),  # ISO 8601, UTC
)

competition_games: Final = Table(
    "competition_games",
    METADATA,
    Column("competition", ForeignKey("competitions.id"), nullable=False),
    Column("number", Integer, nullable=False),  # in the plan, from 0
    Column("tournament", ForeignKey("tournaments.id"), nullable=False),  # has its matches
    PrimaryKeyConstraint("competition", "number"),
    UniqueConstraint("tournament"),
)

candidates: Final = Table(
    "candidates",
    METADATA,
    Column("competition", ForeignKey("competitions.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("command", Text, nullable=False),  # empty for those that dial in, or were uploaded
    Column("version", Text, nullable=False),
    Column("seed", Integer, nullable=False),  # rank before the first round, from 1
    Column("entered_unix_ms", _UnixMs, nullable=False),
    Column("out", Text),  # why it is not in any more; null while it is
    Column("out_after", _Json),  # pairs of a game and the rounds that were drawn of it then
    Column("reason", Text, nullable=False, server_default=""),
    Column("present", _Json),  # milliseconds that each version was there on a ladder
    Column("away", Text),  # why it is not drawn just now; null where it is
    PrimaryKeyConstraint("competition", "name"),
)

frozen_tables: Final = Table(
    "frozen_tables",
    METADATA,
    Column("competition", ForeignKey("competitions.id"), nullable=False),
    Column("number", Integer, nullable=False),  # from 1
    Column("body", Text, nullable=False),  # the very bytes that are signed, in UTF-8
    Column("record", Text, nullable=False),  # JSON Lines of all that it was made from
    Column("inputs_sha256", Text, nullable=False),
    Column("public_key", Text, nullable=False),  # hexadecimal, as is the next
    Column("signature", Text, nullable=False),
    Column("at_unix_ms", _UnixMs, nullable=False),
    PrimaryKeyConstraint("competition", "number"),
)

questions: Final = Table(
    "questions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("asked_unix_ms", _UnixMs, nullable=False),
    Column("ask", _Json, nullable=False),
    Column("state", Text, nullable=False),
    Column("why", Text, nullable=False, server_default=""),  # it ended
    Column("core_time", _UnixMs, nullable=False, server_default="0"),  # milliseconds
    Column("margins", _Json, nullable=False),  # of each deal-set, in order
)
Index("questions_of_owner", questions.c.owner, questions.c.id)

audit: Final = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at_unix_ms", _UnixMs, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("before", _Json),
    Column("after", _Json),
    Column("sha256", Text, nullable=False),  # of this row and of the row before
)

# Alembic's own table, as Alembic makes it. Not among the tables above: migrations leave it alone.
revision: Final = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
