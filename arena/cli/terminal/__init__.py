"""Replays, reports and diagnoses of matches, drawn in a terminal."""
