"""Plays competitions: tournaments of every format, standing ladders, and comparisons of versions."""
