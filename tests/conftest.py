"""Settings of all tests."""

from hypothesis import settings

# Neither the machine's speed nor chance decides whether a test passes.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
