"""Doubles that only this project's tests need; those for everybody are `arena.testing`."""
