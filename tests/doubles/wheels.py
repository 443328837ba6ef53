"""Wheels made by hand: small packages as zips, honest unless a row wants it otherwise."""

import base64
import hashlib
import stat
import zipfile

TINY = {"tiny/__init__.py": b"WORTH = 7\n"}
"""A package that a bot can import."""


def record_of(files, about):
    """What a wheel says of its files."""
    lines = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
        for path, data in files.items()
    ]
    return "\n".join((*lines, f"{about}/RECORD,,", "")).encode()


def wheel(
    folder,
    files=TINY,
    *,
    name="tiny",
    version="1.0",
    tag="py3-none-any",
    record=record_of,
    about=None,
    change=lambda info: None,
    needs=(),
):
    """Write a wheel of these files into a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    inside = f"{name}-{version}.dist-info"
    said = {
        f"{inside}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        + "".join(f"Requires-Dist: {each}\n" for each in needs),
        f"{inside}/WHEEL": f"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    held = {**files, **{path: text.encode() for path, text in said.items()}}
    held[f"{inside}/RECORD"] = record(held, inside)
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for at, data in (about(held) if about else held).items():
            info = zipfile.ZipInfo(at)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            change(info)
            made.writestr(info, data)
    return path
