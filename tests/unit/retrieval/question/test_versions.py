"""What the version that a question asks for leaves out."""

from dataclasses import replace

import pytest

from indexes.families import Manual, join_editions
from indexes.store_checks import passes
from retrieval.question.catalogue import bind_version
from retrieval.question.query import build_query
from schemas.errors import ConfigError, FilterError
from schemas.evidence import Filter
from schemas.families import Edition, SourceFamily
from tests.fakes.graph_samples import full_chunk

PG = SourceFamily(source="pg", family="postgresql", url="/([^/]+)/")
GIT = SourceFamily(source="git", family="git", url="/([^/]+)/")

DOCUMENTS = {
    "pg select 17": ("pg", "17", "/17/select"),
    "pg select 15": ("pg", "15", "/15/select"),
    "pg lock 15": ("pg", "15", "/15/lock"),
    "pg lock 14": ("pg", "14", "/14/lock"),
    "pg rules 14": ("pg", "14", "/14/rules"),
    "git push 2": ("git", "2", "/2/push"),
    "git push 1": ("git", "1", "/1/push"),
    "blog": ("blog", None, "/blog"),
    "pg start": ("pg", None, "/"),
}


def manuals() -> tuple[Manual, ...]:
    found = [Edition(doc, s, v, None, path) for doc, (s, v, path) in DOCUMENTS.items() if v is not None]
    return join_editions([PG, GIT], found)


def left(version: str | None, *filters: Filter) -> set[str]:
    """The documents that a question is asked of."""
    query = bind_version(build_query("locks", version=version, filters=filters), manuals())
    chunks = [
        replace(full_chunk(), doc=doc, source=source, version=of, file_path=path)
        for doc, (source, of, path) in DOCUMENTS.items()
    ]
    return {chunk.doc for chunk in chunks if passes(chunk, query.conditions)}


LATEST = {"pg select 17", "pg lock 15", "pg rules 14", "git push 2", "blog", "pg start"}


@pytest.mark.parametrize("version", [None, "latest"])
def test_without_a_version_each_document_is_asked_in_its_latest(version: str | None) -> None:
    assert left(version) == LATEST


def test_a_version_is_exact_and_other_manuals_answer_from_their_latest() -> None:
    asked = {"pg select 15", "pg lock 15", "git push 2", "blog", "pg start"}
    assert left("15") == left("postgresql=15") == asked


def test_all_leaves_nothing_out() -> None:
    assert left("all") == DOCUMENTS.keys()


@pytest.mark.parametrize("field", ["version", "doc", "source"])
def test_a_filter_says_among_which_documents_the_latest_is_looked_for(field: str) -> None:
    values = {"version": "14", "doc": "pg lock 14", "source": "git"}
    wanted = {
        "version": {"pg lock 14", "pg rules 14"},
        "doc": {"pg lock 14"},
        "source": {"git push 2"},
    }
    assert left(None, Filter(field=field, values=(values[field],))) == wanted[field]


@pytest.mark.parametrize("version", ["13", "git=15", "=", "postgresql=", "nothing=15"])
def test_a_version_that_no_manual_has_is_refused_with_those_there_are(version: str) -> None:
    with pytest.raises(FilterError, match="known: git 2, 1; postgresql 17, 15, 14"):
        left(version)


def test_an_index_without_manuals_says_how_to_get_one() -> None:
    with pytest.raises(FilterError, match="`family` in a source file"):
        bind_version(build_query("locks", version="15"), ())
    assert bind_version(build_query("locks"), ()).conditions == ()


@pytest.mark.parametrize("version", ["", " ", "x" * 201])
def test_an_empty_or_endless_version_is_refused(version: str) -> None:
    with pytest.raises(ConfigError, match="1 to 200"):
        build_query("locks", version=version)


def test_of_two_lists_the_shorter_one_goes_into_the_filter() -> None:
    old = [Edition(f"old {n}", "pg", "15", None, f"/15/{n}") for n in range(50)]
    new = [Edition("new 0", "pg", "17", None, "/17/0")]
    (out,) = bind_version(build_query("locks"), join_editions([PG], [*old, *new])).left_out
    assert out.where == (Filter(field="doc", values=("old 0",)),)
    new = [Edition(f"new {n}", "pg", "17", None, f"/17/{n}") for n in range(49)]
    (out,) = bind_version(build_query("locks"), join_editions([PG], [*old, *new])).left_out
    assert out.unless == (Filter(field="doc", values=("old 49",)),)
