"""What can be seen in a scene: its cards, its keys, its text."""

import dataclasses

from arena.pictures.vocabulary import Card, Face, Name, Pile, Zone


def parts(value):
    """Every part of a scene, deep, itself first."""
    yield value
    if isinstance(value, tuple):
        for item in value:
            yield from parts(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name))


def cards_in(value):
    """The cards that are seen, drawn or named."""
    for part in parts(value):
        if isinstance(part, Card) and part.code is not None:
            yield part.code
        elif isinstance(part, Face):
            yield part.card
        elif isinstance(part, Pile) and part.top is not None:
            yield part.top


def texts_in(value):
    return [part for part in parts(value) if type(part) is str]


def names_in(value):
    return [part.seat for part in parts(value) if isinstance(part, Name)]


def zones_of(scene):
    """The zones of the middle and of each seat."""
    yield scene.centre
    for seat in scene.seats:
        yield seat.zones


def keys_of(zones):
    return [zone.key for zone in zones if isinstance(zone, Zone)]
