"""A bot's session: its streams, its seats at matches, its asks; and the register of all sessions."""
