"""Qualification: checks within two minutes whether a bot may play, at an arena or locally.

The bot is started as for play. It plays every declared game against the sample bot and the random
bot. It must also handle unknown fields, refusals, closed asks, a lost connection, several matches at
once, and `drain`.
"""
