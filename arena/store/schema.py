"""The tables of the store, as this version of the arena writes them.

To change a table, change it here, raise `HEAD`, and add a migration to `migrations/versions` that makes the
same change to an older store. A test compares the two.
"""

from typing import Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Enum,
    Float,
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

from arena.results.deal_sets import DealSetState

HEAD: Final = "r4"
"""The revision of these tables. Stores of revisions 0001 to 0009, v1 to v5, r1 and r2 are not read."""

PLANNED: Final = "planned"
FINISHED: Final = "finished"
ABORTED: Final = "aborted"

BOT_SCOPE: Final = "bot"
ORGANISER_SCOPE: Final = "organiser"
OWNER_SCOPE: Final = "owner"
WORKER_SCOPE: Final = "worker"

_Json: Final = JSON(none_as_null=True)

# Milliseconds since 1970 need over 31 bits; SQLite's INTEGER has 63.
_UnixMs: Final = BigInteger().with_variant(Integer(), "sqlite")

_DealSetState: Final = Enum(
    DealSetState,
    native_enum=False,
    values_callable=lambda states: [state.value for state in states],
    create_constraint=True,
    name="known_state",
)

METADATA: Final = MetaData()

competitions: Final = Table(
    "competitions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("config", Text, nullable=False),  # the organiser's TOML, with seed and commands
    Column("public_config", Text, nullable=False),  # the same TOML without seed and commands
    Column("config_sha256", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("organiser", Text, nullable=False),
    Column("created", Text, nullable=False),  # ISO 8601, UTC
    Column("announcement", Text, nullable=False, server_default=""),
    Column("announced", Text),  # when, in ISO 8601, UTC; null without an announcement
    Column(
        "waits", Text, nullable=False, server_default=""
    ),  # why the arena plays no deal-set of it
)

competition_games: Final = Table(
    "competition_games",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("competition", ForeignKey("competitions.id"), nullable=False),
    Column("number", Integer, nullable=False),  # in the plan, from 0
    Column("terms", _Json, nullable=False),  # as `arena.referee.wire.terms.terms_json` writes them
    UniqueConstraint("competition", "number"),
)

entrants: Final = Table(
    "entrants",
    METADATA,
    Column("competition", ForeignKey("competitions.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("command", Text, nullable=False),  # empty unless the arena starts it by a command
    Column("version", Text, nullable=False),
    Column("seed", Integer, nullable=False),  # rank before the first round, from 1
    Column("entered_unix_ms", _UnixMs, nullable=False),
    Column("out", Text),  # `withdrawn` or `disqualified`; null while it takes part
    Column("out_after", _Json),  # pairs of a game's number and its rounds by then
    Column("reason", Text, nullable=False, server_default=""),
    Column("present", _Json),  # ladders: milliseconds that each version was connected
    Column("away", Text),  # why the bot is not drawn; null if it is
    Column("games", _Json),  # numbers of the plan's games that it enters; null for all
    Column("limited", Text),  # ladders: what limits how often it is drawn; null if nothing does
    PrimaryKeyConstraint("competition", "name"),
)

deal_sets: Final = Table(
    "deal_sets",
    METADATA,
    Column("competition_game", ForeignKey("competition_games.id"), nullable=False),
    Column("id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("seed", Text, nullable=False),
    Column("bots", _Json, nullable=False),  # names in seat order at rotation 0
    Column("state", _DealSetState, nullable=False, server_default=DealSetState.WAITING.value),
    Column("begin", Integer, nullable=False, server_default="0"),  # the number of its begins
    Column("player", Text),  # the worker at which it began last since it was taken; null for none
    Column("round", Integer, nullable=False, server_default="0"),  # 0 for ladders
    Column("shape", Text, nullable=False, server_default="rotation"),
    Column("inputs_sha256", Text),  # of all inputs of a ladder's draw
    PrimaryKeyConstraint("competition_game", "id"),
    UniqueConstraint("competition_game", "number"),
)
Index("deal_sets_by_state", deal_sets.c.competition_game, deal_sets.c.state, deal_sets.c.number)

matches: Final = Table(
    "matches",
    METADATA,
    Column("id", Text, primary_key=True),  # also the replay's
    Column("competition_game", Integer),  # null for a match without a competition
    Column("deal_set", Text),  # null for a single match
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
    Column("published", Boolean, nullable=False, server_default=false()),  # it has a replay
    Column("forfeited", _Json),  # by seat, as is the next; null before there is a result
    Column("fallback_share", _Json),
    Column("margin", Float),  # points of the first over the second; null before there is a result
    Column("cost", Integer),  # of the costliest hand, and its number from 1; null if unknown
    Column("costliest_hand", Integer),
    Column("worth", Text),  # `arena.results.worth.Worth`; null if it is like others
    ForeignKeyConstraint(
        ["competition_game", "deal_set"], ["deal_sets.competition_game", "deal_sets.id"]
    ),
    UniqueConstraint("competition_game", "deal_set", "rotation"),
    CheckConstraint(f"status IN ('{PLANNED}', '{FINISHED}', '{ABORTED}')", name="known_status"),
)
Index("matches_by_end", matches.c.ended_unix_ms, matches.c.id)
Index("matches_of_competition_game", matches.c.competition_game, matches.c.ended_unix_ms)

Index("matches_of_hands", matches.c.game, matches.c.hands, matches.c.ended_unix_ms)
Index("matches_worth_watching", matches.c.worth, matches.c.ended_unix_ms)

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

failed_begins: Final = Table(
    "failed_begins",
    METADATA,
    Column("competition_game", Integer, nullable=False),
    Column("deal_set", Text, nullable=False),
    Column("begin", Integer, nullable=False),
    Column("worker", Text, nullable=False),
    PrimaryKeyConstraint("competition_game", "deal_set", "begin"),
    ForeignKeyConstraint(
        ["competition_game", "deal_set"], ["deal_sets.competition_game", "deal_sets.id"]
    ),
)

spot_checks: Final = Table(
    "spot_checks",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("match", ForeignKey("matches.id"), nullable=False),
    Column("worker", Text, nullable=False),  # where the match was played that counts
    Column("checker", Text, nullable=False),  # where it was played again, with the same packs
    Column("scores", _Json, nullable=False),  # of that second play, by seat
    Column("at_unix_ms", _UnixMs, nullable=False),
)
Index("spot_checks_of_match", spot_checks.c.match)

names: Final = Table(
    "names",
    METADATA,
    Column("skeleton", Text, primary_key=True),  # see `names.skeleton`
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
    Column("signed_in_with", ForeignKey("keys.id")),  # of a sign-in session; null for a key
    Column("label", Text, nullable=False),  # of a sign-in session: what its browser calls itself
    Column("changed", Integer, nullable=False, unique=True),
    CheckConstraint(
        f"scope IN ('{BOT_SCOPE}', '{ORGANISER_SCOPE}', '{OWNER_SCOPE}', '{WORKER_SCOPE}')",
        name="known_scope",
    ),
    CheckConstraint(f"(scope = '{BOT_SCOPE}') = (bot IS NOT NULL)", name="a_bot_has_a_name"),
)

owners: Final = Table(
    "owners",
    METADATA,
    Column("name", ForeignKey("names.name"), primary_key=True),
    Column("invited_by", Text, nullable=False),
    Column("created", Text, nullable=False),  # ISO 8601, UTC
    Column("banned", Text),  # the reason; null without a ban
)

invitations: Final = Table(
    "invitations",
    METADATA,
    Column("code_sha256", Text, primary_key=True),
    Column("invited_by", Text, nullable=False),
    Column("created", Text, nullable=False),  # ISO 8601, UTC
    Column("owner", ForeignKey("owners.name")),  # who registered with it; null before that
    Column("invited", Text, nullable=False),  # the name that it is for
    Column("expires", Text, nullable=False),  # ISO 8601, UTC
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
    Column("runtime_sha256", Text, nullable=False),  # empty without a built runtime
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
    Column("report", _Json, nullable=False),  # as `arena.results.qualification_report` writes it
    PrimaryKeyConstraint("bot", "number"),
    ForeignKeyConstraint(["bot", "number"], ["versions.bot", "versions.number"]),
)

rounds: Final = Table(
    "rounds",
    METADATA,
    Column("competition_game", ForeignKey("competition_games.id"), nullable=False),
    Column("number", Integer, nullable=False),  # from 1
    Column("inputs_sha256", Text, nullable=False),  # of all inputs of the draw
    PrimaryKeyConstraint("competition_game", "number"),
)

pairings: Final = Table(
    "pairings",
    METADATA,
    Column("competition_game", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("place", Integer, nullable=False),  # in the round, from 0; byes follow the groups
    Column("members", _Json, nullable=False),  # names of bots
    Column("bye", Boolean, nullable=False),
    PrimaryKeyConstraint("competition_game", "round", "place"),
    ForeignKeyConstraint(
        ["competition_game", "round"], ["rounds.competition_game", "rounds.number"]
    ),
)

official_standings: Final = Table(
    "official_standings",
    METADATA,
    Column("competition", ForeignKey("competitions.id"), nullable=False),
    Column("number", Integer, nullable=False),  # from 1
    Column("body", Text, nullable=False),  # the bytes that are signed, in UTF-8
    Column("record", Text, nullable=False),  # JSON Lines: the deal-sets it was computed from
    Column("inputs_sha256", Text, nullable=False),
    Column("public_key", Text, nullable=False),  # hexadecimal, as is the next
    Column("signature", Text, nullable=False),
    Column("at_unix_ms", _UnixMs, nullable=False),
    PrimaryKeyConstraint("competition", "number"),
)

comparison_requests: Final = Table(
    "comparison_requests",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("opponent", Text, nullable=False, server_default=""),  # of a challenge
    Column("created_unix_ms", _UnixMs, nullable=False),
    Column("query", _Json, nullable=False),  # the versions and the terms
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),  # why it ended
    Column("core_ms_by_day", _Json, nullable=False),  # processor time by day, in UTC
    Column("margins", _Json, nullable=False),  # of each deal-set, in order
)
Index("comparison_requests_of_owner", comparison_requests.c.owner, comparison_requests.c.id)
Index("challenges_by_time", comparison_requests.c.opponent, comparison_requests.c.created_unix_ms)

webhooks: Final = Table(
    "webhooks",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("competition", Text, nullable=False),  # empty for the events of the owner's bots
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("created_unix_ms", _UnixMs, nullable=False),
    Column("due_unix_ms", _UnixMs, nullable=False),  # earliest time of the next attempt
    Column("failures", Integer, nullable=False),  # attempts that failed since one succeeded
    Column("off", Text, nullable=False),  # why nothing is sent any more; empty while it is
)

webhook_deliveries: Final = Table(
    "webhook_deliveries",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("webhook", ForeignKey("webhooks.id"), nullable=False),
    Column("event", Text, nullable=False),  # its id
    Column("body", Text, nullable=False),  # JSON, as it is sent
    Column("tries", Integer, nullable=False),
    Column("made_unix_ms", _UnixMs, nullable=False),
    Column("waits", Boolean, nullable=False),  # false once it is delivered or given up
    UniqueConstraint("webhook", "event"),
)
Index(
    "waiting_deliveries",
    webhook_deliveries.c.waits,
    webhook_deliveries.c.webhook,
    webhook_deliveries.c.id,
)

event_places: Final = Table(
    "event_places",
    METADATA,
    Column("source", Text, primary_key=True),  # a table, or a ladder
    Column("place", _Json, nullable=False),  # how far it was read for webhooks
)

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

# Alembic's own table, as Alembic makes it. It is in another MetaData, as migrations do not change it.
revision: Final = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

SECRET_TABLES: Final = frozenset(
    {
        "keys",
        "invitations",
        "audit",
        "spot_checks",
        "webhooks",
        "webhook_deliveries",
        "event_places",
    }
)
"""Tables that public readers cannot read."""
SECRET_COLUMNS: Final = frozenset(
    {
        ("deal_sets", "seed"),
        ("competitions", "config"),
        ("entrants", "command"),
        ("matches", "evidence"),
    }
)
"""Columns that public readers read as NULL: packs follow from seeds, and commands contain paths."""
