"""The journal: written while matches are played, and read when an arena starts again."""
