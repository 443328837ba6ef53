"""Matches from their order to their recorded result, also across a restart of the arena."""
