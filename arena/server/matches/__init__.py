"""Matches from their order to their end, also over a restart of the arena."""
