"""Two versions of a manual, compared by document, section and word."""

from collections.abc import Collection
from dataclasses import replace

from indexes.families import join_editions
from schemas.families import Edition, SourceFamily
from schemas.nodes import Chunk
from sitegraph.actions.compare_versions import (
    SectionChange,
    VersionDifference,
    compare_versions,
    difference_lines,
    pair_renamed,
)
from sitegraph.actions.word_difference import Mark, Piece
from tests.fakes.graph_samples import full_chunk

OF = SourceFamily(source="docs", family="shop", url="^([^/]+)/")
LONG = "A lease is given to whoever asks first, and it lasts for as long as the guard is awake. "

Sections = dict[str, str]
"""Heading > text."""


def compare(
    old: dict[str, Sections], new: dict[str, Sections], *, path: str | None = None
) -> VersionDifference:
    chunks: dict[str, tuple[Chunk, ...]] = {}
    editions = []
    for version, pages in (("1", old), ("2", new)):
        for name, sections in pages.items():
            doc = f"{version}/{name}"
            editions.append(Edition(doc, "docs", version, None, doc))
            chunks[doc] = tuple(
                replace(
                    full_chunk(),
                    id=f"{doc}#{place}",
                    doc=doc,
                    ordinal=place,
                    text=text,
                    heading_path=(heading,),
                )
                for place, (heading, text) in enumerate(sections.items())
            )
    (manual,) = join_editions([OF], editions)
    return compare_versions(manual, "1", "2", lambda docs: _of(chunks, docs), path=path)


def _of(chunks: dict[str, tuple[Chunk, ...]], docs: Collection[str]) -> list[Chunk]:
    return [chunk for doc in sorted(docs) for chunk in chunks[doc]]


def test_documents_come_go_stay_and_change() -> None:
    found = compare(
        {"same": {"A": "Equal."}, "gone": {"B": "Old words."}, "other": {"C": "It takes 60 seconds."}},
        {"same": {"A": "Equal."}, "come": {"D": "New words."}, "other": {"C": "It takes 90 seconds."}},
    )
    assert [one.address for one in found.added] == ["2/come"]
    assert [one.address for one in found.removed] == ["1/gone"]
    assert found.unchanged == 1
    (pair,) = found.changed
    assert (pair.old.address, pair.new.address) == ("1/other", "2/other")
    (section,) = pair.sections
    assert (section.change, section.heading_path) == (SectionChange.CHANGED, ("C",))
    assert section.pieces == (
        Piece(Mark.SAME, "It takes "),
        Piece(Mark.REMOVED, "60 "),
        Piece(Mark.ADDED, "90 "),
        Piece(Mark.SAME, "seconds."),
    )


def test_sections_stand_in_the_order_of_the_new_version_and_what_went_comes_last() -> None:
    (pair,) = compare(
        {"p": {"First": "one", "Went": "that is gone", "Was": "the same words", "Last": "four"}},
        {"p": {"Came": "that is new", "First": "uno", "Is": "the same words", "Last": "four"}},
    ).changed
    assert [(one.change, one.heading_path, one.old_path) for one in pair.sections] == [
        (SectionChange.ADDED, ("Came",), None),
        (SectionChange.CHANGED, ("First",), None),
        (SectionChange.RENAMED, ("Is",), ("Was",)),
        (SectionChange.REMOVED, ("Went",), None),
    ]


def test_the_number_of_the_version_in_a_heading_makes_no_other_section() -> None:
    found = compare({"p": {"Manual 1": "words"}}, {"p": {"Manual 2": "words"}})
    assert (found.changed, found.unchanged) == ((), 1)


def test_white_space_is_no_change() -> None:
    assert compare({"p": {"A": "two  words"}}, {"p": {"A": "two\nwords"}}).unchanged == 1


def test_a_document_under_another_name_is_renamed_and_compared() -> None:
    found = compare({"old": {"A": LONG + "Sixty."}}, {"new": {"A": LONG + "Ninety."}, "far": {"A": "Else."}})
    (pair,) = found.renamed
    assert (pair.old.address, pair.new.address) == ("1/old", "2/new")
    assert [one.address for one in found.added] == ["2/far"]
    assert not found.removed


def test_of_several_the_most_alike_are_paired_and_each_once() -> None:
    gone = {"a": frozenset(range(10)), "b": frozenset(range(5, 15))}
    came = {"x": frozenset(range(9)), "y": frozenset(range(100, 110)), "z": frozenset()}
    assert pair_renamed(gone, came) == (("a", "x"),)


def test_a_glob_keeps_documents() -> None:
    old = {"a/p": {"A": "one"}, "b/p": {"A": "one"}}
    new = {"a/p": {"A": "two"}, "b/p": {"A": "two"}}
    assert [pair.new.address for pair in compare(old, new, path="*/a/*").changed] == ["2/a/p"]
    assert compare(old, new, path="nothing").changed == ()


def test_a_person_reads_what_changed_with_some_words_around_it() -> None:
    before = " ".join(f"word{n}" for n in range(50))
    found = compare({"p": {"A": f"{before} 60 seconds."}}, {"p": {"A": f"{before} 90 seconds."}})
    lines = "\n".join(difference_lines(found, width=200))
    assert lines.startswith("shop 1 > 2: documents 0 added, 0 removed, 0 renamed, 1 changed, 0 unchanged\n")
    assert "[-60-] {+90+} seconds." in lines
    assert "word1 " not in lines
    assert "(1 section)" in "\n".join(difference_lines(found, width=80, words=False))
