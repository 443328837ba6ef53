"""Test doubles for authors of bots, games and services: bots, ledgers, deals and outboxes in memory."""
