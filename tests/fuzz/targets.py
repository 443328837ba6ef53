"""All that is fuzzed."""

from tests.fuzz import calls, deal_talk, disk, play_stream, rules, session_model, sockets, words

TARGETS = {
    target.name: target
    for target in (
        play_stream.SESSION,
        play_stream.MOVES,
        calls.HELLO,
        calls.CALL,
        deal_talk.DEAL_TALK,
        disk.DAMAGE,
        disk.REPLAY,
        disk.JOURNAL,
        disk.DEALS,
        disk.RECEIPT,
        rules.RULES,
        words.NOTATION,
        words.OPTIONS,
        words.TOKENS,
        words.COMMANDS,
        sockets.STREAM,
        sockets.UNARY_CALL,
    )
}
MODEL = session_model.NAME
"""The stateful one, whose inputs are steps."""
