"""Vectors of protocol fd2, for who implements it: `python -m tests.referee.deal.fd2_vectors`.

The groups are those of `fd1_vectors.json`, with a salt for each participant. Nothing of the SDK
or of the arena has a part in the hashes here.
"""

import hashlib
import hmac
import json
from pathlib import Path

FD1 = Path(__file__).with_name("fd1_vectors.json")
PATH = Path(__file__).with_name("fd2_vectors.json")


def enc(*parts):
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def h(label, *parts):
    return hashlib.sha256(enc(b"fd1", label, *parts)).digest()


def salt_of(group, name):
    return hashlib.sha256(f"fd2 test vector {group['name']} salt {name}".encode()).digest()


def vector(group):
    """What fd2 makes of a group of fd1: only the bots' commitments and what follows differ."""
    context, secret = bytes.fromhex(group["ctx"]), bytes.fromhex(group["S"])
    committed = bytes.fromhex(group["CS"])
    entropies = {name: bytes.fromhex(value) for name, value in sorted(group["r"].items())}
    salts = {name: salt_of(group, name) for name in entropies}
    views = {name: h(b"view", context, name.encode(), salt) for name, salt in salts.items()}
    server = {name: h(b"server-commit", view, secret) for name, view in views.items()}
    commits = {
        name: h(b"bot-commit", views[name], name.encode(), entropy) if entropy else bytes(32)
        for name, entropy in entropies.items()
    }
    pairs = [enc(name.encode(), commits[name]) for name in commits]
    transcript = h(b"transcript", context, committed, *pairs)
    seals = {name: h(b"seal", views[name], transcript, salts[name]) for name in views}
    shown = {
        name: h(
            b"view-transcript",
            views[name],
            server[name],
            enc(name.encode(), commits[name]),
            seals[name],
        )
        for name in views
    }
    opened = [enc(name.encode(), entropies[name]) for name in entropies]
    return {
        "name": group["name"],
        "ctx": group["ctx"],
        "S": group["S"],
        "CS": group["CS"],
        "r": group["r"],
        "salts": hexed(salts),
        "views": hexed(views),
        "server_commits": hexed(server),
        "commits": hexed(commits),
        "T": transcript.hex(),
        "seals": hexed(seals),
        "view_transcripts": hexed(shown),
        "K": hmac.digest(transcript, enc(secret, *opened), "sha256").hex(),
    }


def hexed(values):
    return {name: value.hex() for name, value in values.items()}


def text():
    groups = json.loads(FD1.read_text("utf-8"))
    return json.dumps([vector(group) for group in groups], indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
