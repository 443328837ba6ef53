"""Migrates a store of an older schema, with Alembic.

To change the schema, change `schema.py`, raise its `HEAD`, and write a module in `migrations/versions` that
makes the same change to an older store.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection


def knows(revision: str) -> bool:
    """Return whether migrations lead from `revision` to the present schema."""
    try:
        ScriptDirectory.from_config(_config()).get_revision(revision)
    except CommandError:
        return False
    return True


def to_head(connection: Connection) -> None:
    """Run the missing migrations within the transaction that `connection` is in."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> Config:
    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config
