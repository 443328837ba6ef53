"""Closed tournaments, and the launcher that starts their bots."""
