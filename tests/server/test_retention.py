"""What `arena prune` removes of a data folder, and what stays."""

import json
import os
import re
import threading

import pytest
from click.testing import CliRunner

from arena.cli import main as arena
from arena.competition.states import Action
from arena.replay import durable_files
from arena.replay.signing import arena_key
from arena.server import data_folder
from arena.server.competition_service import CompetitionService
from arena.server.retention import prune
from arena.store import EndedMatch, StoreError, open_store
from arena.store.blobs import Blobs
from arena.submission.versions import VersionEvent
from tests.store import made
from tests.store.made import MATCHES, NOW, result

OLD_S, CUT_S, NEW_S = 1_000.0, 2_000.0, 3_000.0
ALONE = "alone"


def written(path, at_s, *, size_bytes=10):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size_bytes))
    os.utime(path, (at_s, at_s))
    os.utime(path.parent, (at_s, at_s))
    return path


@pytest.fixture
def data(tmp_path):
    """A folder with old and new files; the competition in it runs, and one match was played outside of it."""
    (tmp_path / "journal").mkdir()
    with open_store(data_folder.store_path(tmp_path)) as store:
        made.made(store)
        CompetitionService(store.competitions(), arena_key(tmp_path)).control(
            "autumn", Action.START, who="org"
        )
        ended = EndedMatch(result(MATCHES[0]), "democracy", ("ann", "bob"), "", 1)
        store.matches().record([ended], [MATCHES[0].id])
        alone = EndedMatch(result(MATCHES[0], match_id=ALONE), "democracy", ("ann", "bob"), "", 1)
        store.matches().record([alone], [ALONE])
    return tmp_path
