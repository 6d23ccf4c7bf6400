"""What a shell completes besides commands and options: sources and generations of the index that is meant.

A shell asks while somebody types, so this reads two small files and fails in silence. No bucket is asked.
"""

from collections.abc import Iterator
from pathlib import Path

import typer

from indexes.layout import IndexLayout
from runtime.settings import read_settings


def complete_source(context: typer.Context, incomplete: str) -> list[str]:
    """Return names of the sources that readers see."""
    return [name for name in _sources(_layout(context)) if name.startswith(incomplete)]


def complete_generation(context: typer.Context, incomplete: str) -> list[str]:
    """Return the kept generations, the newest first."""
    numbers = sorted(_generations(_layout(context)), reverse=True)
    return [str(number) for number in numbers if str(number).startswith(incomplete)]


def _layout(context: typer.Context) -> IndexLayout | None:
    try:
        index = read_settings(context.params.get("index")).index
        return None if "://" in index else IndexLayout(Path(index))
    except Exception:  # noqa: BLE001 - whatever is wrong is said once the command is run
        return None


def _generations(layout: IndexLayout | None) -> Iterator[int]:
    if layout is not None:
        yield from (
            int(path.stem) for path in layout.generation(0).parent.glob("*.json") if path.stem.isdecimal()
        )


def _sources(layout: IndexLayout | None) -> list[str]:
    from indexes.publish.current import read_current
    from indexes.publish.generation import load_generation

    try:
        assert layout is not None
        return sorted(load_generation(layout, read_current(layout.root)).sources)
    except Exception:  # noqa: BLE001 - see above
        return []
