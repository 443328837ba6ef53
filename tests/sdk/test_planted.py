"""Faults can be planted in the SDKs as these are now: that each is found is a deep test, which a change may not run."""

import pytest

from tests.sdk import planted
from tests.sdk.languages import CLIENTS, LANGUAGES, MADE

FAULTS = [
    pytest.param(CLIENTS / language.folder, file, original, id=f"{language.folder}: {found_by}")
    for language in LANGUAGES[1:]  # Python's are in tests/testing/conformance/planted.py
    for file, original, _, found_by in getattr(planted, language.folder.upper())
]


@pytest.mark.parametrize(("folder", "file", "original"), FAULTS)
def test_a_fault_has_one_place(folder, file, original):
    sources = [
        path.read_text("utf-8")
        for path in folder.rglob(file)
        if not {*MADE}.intersection(path.relative_to(folder).parts)
    ]
    assert [source.count(original) for source in sources] == [1]
