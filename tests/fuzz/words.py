"""Words that people and clients write: notation, options, tokens, names, commands."""

from datetime import UTC, datetime

from click import BadParameter
from google.protobuf.message import DecodeError
from hypothesis import strategies as st

from arena.bots.tokens import GUEST, Tokens, new_token, well_formed
from arena.cli.options import parse_options
from arena.errors.refused import Refused
from arena.games.catalogue import GAMES, BadOptions, game_by_id
from arena.games.notation import Notation, NotationError
from arena.records.records import check_match_id
from arena.referee.wire.games import codec_of
from arena.referee.wire.settings import values_of_settings
from arena.sandbox.command import BadCommand, parse_commands
from cardarena.v1 import game_pb2
from tests.fuzz.calls import check_refusal, check_unsaid
from tests.fuzz.play_stream import offered_moves
from tests.fuzz.target import Target, check_sentence
from tests.fuzz.wild import NASTY_TEXTS, Messages, mutated, sized, tag

MAX_WORDS = 1 << 20
"""A person's own words may be quoted in full."""


def check_notation(data):
    """A line is read as a move or an event, which is written as it was, or is unreadable."""
    if not data:
        return
    game = GAMES[data[0] % len(GAMES)]
    text = data[1:].decode("utf-8", "replace")
    for kind in (game.messages.Move, game.messages.Event):
        notation = Notation(kind)
        try:
            value = notation.read(text)
        except NotationError as error:
            check_sentence(error, MAX_WORDS)
            continue
        assert notation.read(notation.write(value)) == value


def check_options(data):
    """Options, as the lobby is sent them and as a person writes them, are taken or refused."""
    if len(data) < 2:
        return
    game, seats = GAMES[data[0] % len(GAMES)], data[1] % 12
    given = [_settings(data[2:]), _written(data[2:].decode("utf-8", "replace"))]
    for values in given:
        if values is None:
            continue
        try:
            options = game.options(values, seats)
        except BadOptions as error:
            check_sentence(error, MAX_WORDS)
            continue
        assert seats in game.seats
        for name, value in values.items():
            held = getattr(options, name)
            assert str(held) == str(value) or isinstance(held, bool | int)
            known = next(each for each in game.settings if each.name == name)
            if isinstance(held, int) and known.minimum is not None:
                assert known.minimum <= held <= known.maximum


def _settings(data):
    try:
        request = game_pb2.MatchTerms.FromString(data)
    except DecodeError:
        return None
    return values_of_settings(request.options)


def _written(text):
    try:
        return parse_options(text.split("\n"))
    except BadParameter as error:
        check_sentence(error.message, MAX_WORDS)
        return None


def check_token(data):
    """A token that is not right is refused, and nothing of it is said again."""
    text = data.decode("utf-8", "replace")
    today = datetime(2026, 11, 21, tzinfo=UTC)
    assert not well_formed(text) or len(text) == len(_GOOD)
    for guests in (False, True):
        tokens = Tokens(guests=guests, now=lambda: today)
        for judge in (tokens.bot, tokens.holder):
            try:
                bot = judge(text)
            except Refused as refused:
                check_refusal(refused.code, refused.text, refused.trailing_metadata())
                check_unsaid("" if text.startswith(GUEST) else text, refused.text)
                continue
            assert guests, "nobody has a key here"
            assert text.startswith(GUEST)
            assert bot.name.isascii()
            assert 0 < len(bot.name) <= 32


def check_command(data):
    """Commands of bots, and ids of matches, are taken or refused in a sentence."""
    text = data.decode("utf-8", "replace")
    try:
        check_match_id(text)
    except ValueError as error:
        check_sentence(error, MAX_WORDS)
    else:
        assert "/" not in text
        assert not text.startswith(".")
    try:
        commands = parse_commands(text.split("\n"))
    except BadCommand as error:
        check_sentence(error, MAX_WORDS)
        return
    assert all(command.name for command in commands)


_GOOD = new_token()
_TOKENS = (
    b"arena_Xy3kPq9AGeObvsKwNhg6lcwz8z5sLZJzY2C2q9IuXW2GhVtEz000000",
    b"arena_" + b"0" * 49,
    b"guest:ann",
    b"guest:Ann B. Cee-1_2",
    b"guest:" + "аnn".encode(),
    b"guest:ann\x00",
    b"guest:" + b"a" * 33,
    b"Bearer x",
)
_COMMANDS = (
    b"a=./a.py\nb=python b.py --fast",
    b"sample_bots/abstrac.py",
    b"x='",
    b"=",
    b"a=b=c",
    b"m1",
    b"../m1",
    b"a" * 128,
)


def lines():
    written = [
        bytes((at,)) + Notation(game.messages.Move).write(move).encode()
        for at, game in enumerate(GAMES)
        for move in _some_moves(game.id)
    ]
    return st.one_of(mutated(written, most=3), st.text(max_size=30).map(_of_first_game))


def _of_first_game(text):
    return b"\x00" + text.encode("utf-8", "replace")


def _some_moves(game_id):
    """Moves that are offered at the beginning of a match."""
    codec = codec_of(game_by_id(game_id))
    encoded = offered_moves(game_id, 0)[:4]
    return [codec.read_move(game_pb2.GameMove.FromString(each)) for each in encoded]


@st.composite
def options(draw):
    at = draw(st.integers(0, len(GAMES) - 1))
    names = tuple(each.name for each in GAMES[at].settings)
    head = bytes((at, draw(st.sampled_from(GAMES[at].seats))))
    if draw(st.booleans()):
        values = st.one_of(
            st.integers(-2, 2000).map(str),
            st.sampled_from(("yes", "no", "", "٣", "1_0", " 7 ", "1e3", *NASTY_TEXTS)),
        )
        pairs = draw(st.lists(st.tuples(st.sampled_from(names), values), max_size=3))
        return head + "\n".join(f"{name}={value}" for name, value in pairs).encode()
    request = Messages(texts=names, ints=(10, 100), wild=0.02, most_fields=3)
    field = game_pb2.MatchTerms.DESCRIPTOR.fields_by_name["options"]
    settings = draw(st.lists(request.of(field.message_type), max_size=3))
    return head + b"".join(tag(field.number, 2) + sized(each) for each in settings)


def tokens():
    return st.one_of(
        mutated([*_TOKENS, _GOOD.encode()], most=3),
        st.text(max_size=40).map(lambda text: ("guest:" + text).encode("utf-8", "replace")),
    )


def commands():
    return mutated(list(_COMMANDS), most=4)


NOTATION = Target("notation", "lines as moves and events", check_notation, lines, short=60)
OPTIONS = Target("options", "options of games", check_options, options, short=80)
TOKENS = Target("tokens", "tokens and names of guests", check_token, tokens, short=60)
COMMANDS = Target("commands", "bots as commands, ids of matches", check_command, commands, short=60)
