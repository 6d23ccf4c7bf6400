"""Kinds of sources by name: ours, and those of other packages."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ingest.sources import registry
from ingest.sources.files import KIND as FILES
from ingest.sources.registry import OURS, kind_named, kind_names, load_kind
from runtime import source_file
from runtime.source_file import parse_source
from schemas.errors import ConfigError
from schemas.source_kinds import GROUP, Keys, SourceKind


class ShelfKeys(Keys):
    """A key of its own."""

    shelf: str


SHELF = SourceKind(name="shelf", keys=ShelfKeys, open=FILES.open, origin="shelf", by_path=True)
CLASHING = SourceKind(
    name="clashing",
    keys=type("Clash", (Keys,), {"__annotations__": {"rate": str}}),
    open=FILES.open,
    origin="x",
)
MISNAMED = SourceKind(name="Other Name", keys=Keys, open=FILES.open, origin="x")
NOT_A_KIND = object()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SourceEntry points that point into this module."""
    points = [
        EntryPoint(name=name, value=f"{__name__}:{attribute}", group=GROUP)
        for name, attribute in (
            ("shelf", "SHELF"),
            ("clashing", "CLASHING"),
            ("misnamed", "MISNAMED"),
            ("nothing", "NOT_A_KIND"),
            ("web", "SHELF"),
        )
    ]
    points.append(EntryPoint(name="lost", value="no_such_module:KIND", group=GROUP))
    monkeypatch.setattr(registry, "entry_points", lambda group: [p for p in points if p.group == group])
    for cached in (registry._points, kind_named, source_file._file_model):
        cached.cache_clear()
    yield
    monkeypatch.undo()
    for cached in (registry._points, kind_named, source_file._file_model):
        cached.cache_clear()


@pytest.mark.parametrize("name", OURS)
def test_every_kind_of_ours_loads_under_its_name(name: str) -> None:
    assert kind_named(name).name == name


def test_a_kind_of_another_package_is_one_of_the_names_and_never_takes_ours(installed: None) -> None:
    assert kind_names() == (*OURS, "clashing", "lost", "misnamed", "nothing", "shelf")
    assert kind_named("shelf").origin == "shelf"
    assert kind_named("web").origin == "sitemap"


def test_the_keys_of_a_kind_stand_in_the_source_file(installed: None, tmp_path: Path) -> None:
    source = parse_source("name: a\nkind: shelf\nshelf: upper", subject="a.yaml", folder=tmp_path)

    assert ShelfKeys.of(source).shelf == "upper"
    assert source.kind_keys == '{"shelf": "upper"}'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: a\nkind: shelve", "line 2: kind: Input should be 'web', 'files'"),
        ("name: a\nkind: shelve", "did you mean shelf?"),
        ("name: a\nkind: shelf", "line 1: shelf: is required"),
        ("name: a\nkind: shelf\nshelv: upper", "line 3: shelv: unknown key; did you mean shelf?"),
        ("name: a\nkind: shelf\nshelf: 7", "line 3: shelf: should be a text"),
        ("name: a\nkind: shelf\nshelf: x\nroots: [y]", "roots is for sources of kind files"),
        ("name: a\nkind: clashing", "kind clashing: has rate among its keys, which all kinds have"),
        ("name: a\nkind: misnamed", "calls its kind 'Other Name'"),
        ("name: a\nkind: nothing", "does not give a schemas.source_kinds.SourceKind"),
        ("name: a\nkind: lost", "does not load (ModuleNotFoundError: No module named 'no_such_module')"),
    ],
)
def test_what_is_wrong_with_a_kind_is_said(text: str, told: str, installed: None, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_source(text, subject="a.yaml", folder=tmp_path)
    assert told in str(refused.value)


def test_a_kind_that_is_not_installed_any_more_is_named() -> None:
    with pytest.raises(ConfigError, match="gopher: no such kind of source; installed are: web, files"):
        kind_named("gopher")


def test_a_kind_that_cannot_be_imported_is_no_traceback() -> None:
    with pytest.raises(ConfigError, match="no_such_module"):
        load_kind(EntryPoint(name="lost", value="no_such_module:KIND", group=GROUP))
