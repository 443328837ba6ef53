"""Strategies for wild input: mutated bytes, and messages made from their descriptors.

Messages are written field by field as bytes, so that they can also be what no
library would write: numbers that are too long, text that is no UTF-8, fields
of another type or unknown, groups that never end.
"""

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

from arena.referee.wire.fields import varint

INTS = (0, 1, 2, 3, 7, 52, 127, 128, 255, 512, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
BIG_INTS = (1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
NASTY_BYTES = (b"", b"\x00", b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"a" * 300, bytes(32))
NASTY_TEXTS = ("", "\x00", "abstrac", "democracy", "../../etc/passwd", "%2e%2e%2f", "é\u202e𝄞",
               "' OR 1=1 --", "<script>", "7h", "10h", "a" * 300, "b" * 3000)  # fmt: skip

_VARINTS = {
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_SINT64,
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_BOOL,
    FieldDescriptor.TYPE_ENUM,
}


def sized(body):
    return varint(len(body)) + body


def tag(number, wire_type):
    return varint(number << 3 | wire_type)


@st.composite
def mutated(draw, bases, most=6):
    """One of `bases`, or several spliced, with some mutations."""
    data = bytearray(draw(st.sampled_from(bases)))
    for _ in range(draw(st.integers(0, most))):
        at = draw(st.integers(0, len(data)))
        how = draw(st.sampled_from(_MUTATIONS))
        how(draw, data, at, bases)
    return bytes(data)


def _flip(draw, data, at, _):
    if at < len(data):
        data[at] ^= 1 << draw(st.integers(0, 7))


def _cut(draw, data, at, _):
    del data[at:]


def _remove(draw, data, at, _):
    del data[at : at + draw(st.integers(1, 64))]


def _repeat(draw, data, at, _):
    piece = bytes(data[at : at + draw(st.integers(1, 64))])
    data[at:at] = piece * draw(st.integers(1, 40))


def _insert(draw, data, at, _):
    data[at:at] = draw(st.one_of(st.binary(max_size=12), st.sampled_from(NASTY_BYTES)))


def _number(draw, data, at, _):
    width = draw(st.sampled_from((1, 2, 4, 8)))
    number = draw(st.sampled_from((*INTS, *BIG_INTS))) % (1 << 8 * width)
    data[at : at + width] = number.to_bytes(width, "little")


def _splice(draw, data, at, bases):
    other = draw(st.sampled_from(bases))
    data[at:] = other[draw(st.integers(0, len(other))) :]


_MUTATIONS = (_flip, _flip, _cut, _remove, _repeat, _insert, _number, _splice)


class Messages:
    """Makes wire bytes of a message type, with numbers and texts of a target's own among them."""

    def __init__(self, *, ints=(), texts=(), byte_strings=(), most_fields=4, wild=0.15):
        self.numbers = st.one_of(
            st.sampled_from((*ints, *INTS)), st.sampled_from((*ints, *BIG_INTS)), st.integers(0, 60)
        )
        self.texts = st.one_of(
            st.sampled_from((*texts, *NASTY_TEXTS)).map(str.encode),
            st.text(max_size=12).map(lambda text: text.encode("utf-8", "surrogatepass")),
            st.sampled_from(NASTY_BYTES),
        )
        self.byte_strings = st.one_of(
            st.sampled_from((*byte_strings, *NASTY_BYTES)), st.binary(max_size=40)
        )
        self.most_fields = most_fields
        self.wild = wild

    def of(self, descriptor, depth=6):
        """A strategy for the bytes of a message."""

        @st.composite
        def build(draw):
            return self._message(draw, descriptor, depth)

        return build()

    def _message(self, draw, descriptor, depth):
        parts = []
        for _ in range(draw(st.integers(0, self.most_fields))):
            if draw(st.floats(0, 1)) < self.wild or not descriptor.fields:
                parts.append(self._odd(draw))
                continue
            field = draw(st.sampled_from(tuple(descriptor.fields)))
            times = draw(st.sampled_from((1, 1, 1, 2, 3, 50))) if field.is_repeated else 1
            parts.append(self._field(draw, field, depth) * times)
        return b"".join(parts)

    def _field(self, draw, field, depth):
        if field.type in _VARINTS:
            number = draw(self.numbers)
            if field.type == FieldDescriptor.TYPE_ENUM and draw(st.booleans()):
                number = draw(st.sampled_from([each.number for each in field.enum_type.values]))
            return tag(field.number, 0) + varint(number)
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            inner = self._message(draw, field.message_type, depth - 1) if depth else b""
            return tag(field.number, 2) + sized(inner)
        contents = self.texts if field.type == FieldDescriptor.TYPE_STRING else self.byte_strings
        return tag(field.number, 2) + sized(draw(contents))

    def _odd(self, draw):
        number = draw(st.sampled_from((1, 2, 3, 4, 5, 16, 99, (1 << 29) - 1)))
        return draw(
            st.sampled_from(
                (
                    tag(number, 0) + b"\xff" * 9 + b"\x01",  # the longest number
                    tag(number, 0) + b"\xff" * 11,  # longer than any
                    tag(number, 1) + bytes(8),
                    tag(number, 5) + bytes(4),
                    tag(number, 3) + tag(number, 4),  # a group
                    tag(number, 3) * 90 + tag(number, 4) * 90,  # nested as deep as is read
                    tag(number, 3) * 300,  # and deeper, without end
                    tag(number, 4),  # an end without its group
                    tag(number, 6),  # no wire type
                    tag(number, 2) + varint((1 << 31) - 1),  # longer than what follows
                    tag(number, 2) + sized(b"\xff\xff"),
                    tag(0, 0) + b"\x00",  # no field has number 0
                )
            )
        )


def edit(draw, message, texts=(), byte_strings=()):
    """Set one field of a message to something else, or take it out."""
    field = draw(st.sampled_from(tuple(message.DESCRIPTOR.fields)))
    held = getattr(message, field.name)
    if field.is_repeated:
        _edit_list(draw, field, held, texts, byte_strings)
    elif draw(st.integers(0, 9)) == 0:
        message.ClearField(field.name)
    elif field.message_type:
        edit(draw, held, texts, byte_strings)
    else:
        setattr(message, field.name, draw(_values(field, texts, byte_strings)))


def _edit_list(draw, field, held, texts, byte_strings):
    how = draw(st.sampled_from(("change", "change", "add", "drop")))
    if how == "drop" and held:
        del held[draw(st.integers(0, len(held) - 1))]
    elif field.message_type:
        element = held[draw(st.integers(0, len(held) - 1))] if held and how != "add" else held.add()
        edit(draw, element, texts, byte_strings)
    elif how == "change" and held:
        held[draw(st.integers(0, len(held) - 1))] = draw(_values(field, texts, byte_strings))
    else:
        held.append(draw(_values(field, texts, byte_strings)))


_UNSIGNED = {FieldDescriptor.TYPE_UINT32: 32, FieldDescriptor.TYPE_UINT64: 64}


def _values(field, texts, byte_strings):
    """Values that a field can hold, and that do not belong there."""
    if field.type == FieldDescriptor.TYPE_STRING:
        return st.one_of(st.sampled_from((*texts, *NASTY_TEXTS)), st.text(max_size=8))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.one_of(st.sampled_from((*byte_strings, b"", b"short")), st.binary(max_size=33))
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    bits = _UNSIGNED.get(field.type)
    least, most = (0, (1 << bits) - 1) if bits else (-(1 << 31), (1 << 31) - 1)
    known = [number for number in (*INTS, *BIG_INTS, -1) if least <= number <= most]
    return st.one_of(st.sampled_from(known), st.integers(0, 9))
