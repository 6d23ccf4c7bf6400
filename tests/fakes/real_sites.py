"""Real documentation sites of the data folder beside the checkout, unpacked."""

import tarfile
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def unpack(archive: str, version: str, folder: Path) -> Path:
    """Unpack one version of a site into *folder* and give it; skips where there is no data folder.

    A link becomes a file of its own, as a server would show it.
    """
    if not DATA.is_dir():
        pytest.skip(f"no real sites: {DATA} is not there")
    with tarfile.open(DATA / archive) as members:
        for member in members:
            name = member.name.removeprefix("./")
            if (member.isfile() or member.issym()) and name.startswith(version):
                extract_file(members, member, folder / name)
    return folder


def extract_file(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> Path:
    """Write one file of an archive to *target*; Python before 3.11.4 has no extraction filters."""
    content = archive.extractfile(member)
    assert content is not None
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.read())
    return target
