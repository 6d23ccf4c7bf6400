"""Files that pages load: named by their hash, so that browsers may keep them for ever."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from schemas.hashing import sha256_hex
from sitegraph.service.sessions import STATIC

FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    name: str
    data: bytes
    media_type: str


@cache
def load_assets(folder: Path = FOLDER) -> Mapping[str, Asset]:
    """Return files of the folder by their own name; `Asset.name` has the first digits of their hash in it."""
    found = {}
    for file in sorted(folder.iterdir()):
        if file.suffix in _TYPES:
            data = file.read_bytes()
            name = f"{file.stem}.{sha256_hex(data)[:12]}{file.suffix}"
            found[file.name] = Asset(name, data, _TYPES[file.suffix])
    return found


def asset_path(name: str) -> str:
    """Return where a page finds the file *name*.

    Raises: KeyError: there is no such file, which is our own mistake.
    """
    return f"{STATIC}{load_assets()[name].name}"


def find_asset(sent_as: str) -> Asset | None:
    """Return the file that is sent as `style.0123456789ab.css`."""
    return next((one for one in load_assets().values() if one.name == sent_as), None)
