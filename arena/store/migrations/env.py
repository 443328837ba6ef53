"""Alembic's entry: runs the migrations in the transaction that was handed over."""

from alembic import context

from arena.store.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
