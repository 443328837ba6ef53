"""Modules shared by Chinese Poker and Open-Face Chinese Poker, which set thirteen cards in rows."""
