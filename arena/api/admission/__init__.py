"""Admission of calls, bots and matches: tokens and keys, access, limits, load shedding."""
