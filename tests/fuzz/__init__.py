"""Whatever strangers can hand the arena, made up at random: bytes, messages, files, rules, words.

A target takes bytes and fails where a promise is broken. `scripts/test` runs
each for a moment and replays every input that ever broke something
(`corpus/`); `python -m tests.fuzz --minutes 10` searches for new ones.
"""
