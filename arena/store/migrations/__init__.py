"""How older files become present ones; Alembic runs this, started by `arena.store.upgrade`."""
