"""Faults can be planted in the SDKs as these are now: that each is found is a deep test, which a change may not run."""

import pytest

from tests.sdk import planted
from tests.sdk.languages import CLIENTS, MADE

FAULTS = [
    pytest.param(CLIENTS / language, file, original, id=f"{language}: {found_by}")
    for language, faults in {
        "go": planted.GO,
        "rust": planted.RUST,
        "typescript": planted.TYPESCRIPT,
        "java": planted.JAVA,
        "cpp": planted.CPP,
    }.items()
    for file, original, _, found_by in faults
]


@pytest.mark.parametrize(("folder", "file", "original"), FAULTS)
def test_a_fault_has_one_place(folder, file, original):
    sources = [
        path.read_text("utf-8")
        for path in folder.rglob(file)
        if not {*MADE}.intersection(path.relative_to(folder).parts)
    ]
    assert [source.count(original) for source in sources] == [1]
