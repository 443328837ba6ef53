"""Settings of the properties here."""

from hypothesis import settings

# How long an example takes says nothing of what it tests, and varies with the machine's load.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
