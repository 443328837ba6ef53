"""Bots that are connected: sessions, asks, fair deals, and matches in play."""
