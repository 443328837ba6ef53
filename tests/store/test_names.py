"""Which names are none, which look alike, and which are reserved."""

import pytest

from arena.store.names import NAME, is_reserved, skeleton

# fmt: off
RULE = [
    ("deep blue",   True,  "one space between two words"),
    ("R2-D2_b. 7",  True,  "all that there is"),
    ("a" * 32,      True,  "as long as a name may be"),
    ("a" * 33,      False, "longer"),
    ("a" * 30 + " bc", False, "longer, with a space"),
    ("deep  blue",  False, "two spaces, which a page shows as one"),
    ("deep blue ",  False, "a space at the end, which nobody sees"),
    (" deep blue",  False, "a space in front"),
    ("deep\tblue",  False, "a tab"),
    ("deep blue\n", False, "the end of a line"),
    ("deep blu\u0435", False, "a letter of another script"),
    (".blue",       False, "a dot in front"),
    ("",            False, "nothing"),
]
ALIKE = [
    ("deep blue", "deep bIue",  True,  "a capital i for an l"),
    ("deep blue", "deep b1ue",  True,  "a one for an l"),
    ("deep blue", "DEEP BLUE",  True,  "capitals"),
    ("deep blue", "deep_blue",  True,  "another separator"),
    ("deep blue", "deep - blue", True, "more separators"),
    ("deep blue", "deep blue.", True,  "a dot at the end"),
    ("bot",       "b0t",        True,  "a zero for an o"),
    ("modern",    "rnodem",     True,  "r and n for an m, and the other way"),
    ("IRENE",     "irene",      True,  "a capital i is an i as well"),
    ("deep blue", "deepblue",   False, "no separator"),
    ("deep blue", "deep blues", False, "one letter more"),
    ("bot 1",     "bot 2",      False, "another number"),
    ("bot 1 1",   "bot 11",     False, "a number that is split"),
    ("bot 2",     "bot z",      False, "characters that UTS 39 does not call confusable"),
]
RESERVED = [
    ("arena",     True,  "the arena itself"),
    ("Arena.",    True,  "in another spelling"),
    ("house",     True,  "its own bots"),
    ("House loo", True,  "one that could be among them"),
    ("household", False, "a word that begins as they do"),
    ("Org",       True,  "an organiser, in short"),
    ("0rganiser", True,  "one that looks like an organiser"),
    ("admin",     True,  "an administrator"),
    ("organ",     False, "a word that only begins so"),
    ("arena bot", False, "a name of which a part is reserved"),
]
# fmt: on


def _ids(rows):
    return [row[-1] for row in rows]


@pytest.mark.parametrize(("name", "valid", "_why"), RULE, ids=_ids(RULE))
def test_a_name_is_shown_as_it_is(name, valid, _why):
    assert (NAME.fullmatch(name) is not None) == valid


@pytest.mark.parametrize(("one", "other", "alike", "_why"), ALIKE, ids=_ids(ALIKE))
def test_names_that_look_alike_have_one_skeleton(one, other, alike, _why):
    assert (skeleton(one) == skeleton(other)) == alike


@pytest.mark.parametrize(("name", "reserved", "_why"), RESERVED, ids=_ids(RESERVED))
def test_reserved_names(name, reserved, _why):
    assert is_reserved(name) == reserved
