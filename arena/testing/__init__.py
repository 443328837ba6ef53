"""Doubles for those who write against the arena: bots, ledgers, deals and outboxes in memory."""
