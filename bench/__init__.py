"""Measures the arena: `python -m bench`, or `scripts/bench`, which sets up what it needs."""
