"""The seat of a person: pages with forms, in a process apart from the read-only pages. It opens no store."""
