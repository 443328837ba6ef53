"""The migrations of older stores to the present schema, which `arena.store.upgrade` runs with Alembic."""
