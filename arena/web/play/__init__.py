"""The seat of a person: pages with forms, in a separate process from the read-only pages. It opens no store."""
