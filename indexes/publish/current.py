"""`CURRENT`, the number of the generation that readers see, and whether publishing is held."""

import re
from dataclasses import dataclass
from pathlib import Path

from indexes.layout import IndexLayout, remedy
from indexes.places import Replacement
from schemas.errors import ConfigError, DamageFound
from schemas.ids import sha256_hex

_FORM = re.compile(rb"(\d+)\n?(?:([0-9a-f]{64})\n)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """What `CURRENT` says; no hash where there is no manifest, or where it was written by hand."""

    generation: int
    manifest_sha256: str | None = None


def read_current(index: Path) -> int:
    """Read the number of the generation that readers see; take it once per query.

    Raises: ConfigError: the folder is no index; DamageFound: `CURRENT` is missing or damaged.
    """
    return read_pointer(index).generation


def read_pointer(index: Path) -> Pointer:
    """Read all that `CURRENT` says; raises as `read_current` does."""
    layout = IndexLayout(index)
    try:
        text = layout.current.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        if layout.manifest.exists() or layout.has_generations():
            raise DamageFound(f"is missing; {remedy(index)}", subject=str(layout.current)) from error
        raise ConfigError(
            f"not an index; make one with: sitegraph run SOURCE.yaml --index {index}", subject=str(index)
        ) from error
    except OSError as error:
        raise DamageFound(
            f"cannot be read ({error}); {remedy(index)}", subject=str(layout.current)
        ) from error
    pointer = parse_pointer(text)
    if pointer is None:
        raise DamageFound(f"is damaged; {remedy(index)}", subject=str(layout.current))
    return pointer


def parse_pointer(text: bytes) -> Pointer | None:
    """Read the bytes of a `CURRENT`; None: they are none."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    sha256 = found[2].decode() if found[2] else None
    return Pointer(generation=int(found[1]), manifest_sha256=sha256)


def prepare_current(index: Path) -> Replacement:
    """Remember what `CURRENT` is; call it before the last look at the lease on the index."""
    return Replacement(IndexLayout(index).current)


def write_current(index: Path, generation: int, *, prepared: Replacement | None = None) -> None:
    """Let readers see *generation* from now on.

    Raises: StaleLease: an index in a bucket whose `CURRENT` somebody else has changed since *prepared*.
    """
    manifest = IndexLayout(index).generation(generation)
    sha256 = f"{sha256_hex(manifest.read_bytes())}\n" if manifest.exists() else ""
    (prepared or prepare_current(index)).write(f"{generation}\n{sha256}")


def hold_file(layout: IndexLayout) -> Path:
    """Return where a hold is written."""
    return layout.root / "HOLD"


def held_since(layout: IndexLayout) -> str | None:
    """When the hold was set; None when publishing is free."""
    path = hold_file(layout)
    return path.read_text().strip() if path.exists() else None
