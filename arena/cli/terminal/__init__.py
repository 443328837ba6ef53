"""Replays and accounts of matches, drawn in a terminal."""
