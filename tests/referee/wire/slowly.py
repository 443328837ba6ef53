"""Messages from rules values by reflection, field by field: what the codec must agree with."""

import dataclasses
import itertools
from enum import StrEnum
from typing import get_args

from cardarena.games.v1 import cards_pb2


def upper(name):
    letters = [name[0]]
    for before, letter in itertools.pairwise(name):
        letters.append("_" + letter if letter.isupper() and not before.isupper() else letter)
    return "".join(letters).upper()


def prefix_of(family):
    return "".join(word.capitalize() for word in family.split("_"))


def fill(message, value):
    """Set every field that `value` has; whatever `message` has besides stays empty."""
    for field in dataclasses.fields(value):
        descriptor = message.DESCRIPTOR.fields_by_name[field.name]
        put(message, descriptor, getattr(value, field.name))
    return message


def put(message, field, value):
    if value is None:
        return
    if isinstance(value, tuple):
        repeated = getattr(message, field.name)
        for each in value:
            if isinstance(each, tuple):
                repeated.append(cards_pb2.Cards(cards=each))
            elif dataclasses.is_dataclass(each):
                fill(repeated.add(), each)
            else:
                repeated.append(plain(field, each))
    elif dataclasses.is_dataclass(value):
        inner = getattr(message, field.name)
        inner.SetInParent()
        fill(inner, value)
    else:
        setattr(message, field.name, plain(field, value))


def plain(field, value):
    if isinstance(value, StrEnum):
        name = f"{upper(field.enum_type.name)}_{value.name}"
        return field.enum_type.values_by_name[name].number
    return value


def flat(messages, family, kind, value):
    """A move or an event as its flat message."""
    prefix = prefix_of(family)
    selector, enum = ("verb", "Verb") if kind == "Move" else ("kind", "EventKind")
    message = getattr(messages, prefix + kind)()
    values = getattr(messages, prefix + enum).DESCRIPTOR.values_by_name
    name = f"{upper(prefix + enum)}_{upper(type(value).__name__)}"
    setattr(message, selector, values[name].number)
    return fill(message, value)


def classes_of(union):
    return get_args(union) or (union,)
