"""Which sources of the next generation have versions of one manual."""

from flows.derive.diff import families_after, family_of
from flows.run.generations import planned_families
from schemas.families import SourceFamily, VersionFamily
from schemas.records import to_record
from schemas.source import Source

PG15 = Source(
    name="pg15",
    kind="web",
    seeds=("https://x.org/docs/15/index.html", "HTTPS://X.org/docs/15/sql/"),
    family=VersionFamily(name="postgresql", version="15"),
)
GIT = SourceFamily(source="git", family="git", url="/docs/([^/]+)/")


def test_a_source_of_one_version_is_joined_below_the_folders_of_its_seeds() -> None:
    assert family_of(PG15) == SourceFamily(
        source="pg15",
        family="postgresql",
        bases=("https://x.org/docs/15/", "https://x.org/docs/15/sql/"),
    )


def test_a_pattern_needs_no_folder_and_a_source_without_a_family_nothing() -> None:
    source = Source(name="git", kind="web", seeds=PG15.seeds, family=VersionFamily(name="git", url=GIT.url))
    assert family_of(source) == GIT
    assert family_of(Source(name="git", kind="files", roots=("/x",))) is None


def test_the_families_of_other_sources_stay_as_long_as_they_are_there() -> None:
    own = family_of(PG15)
    assert families_after((GIT,), PG15, there={"git", "pg15"}) == (GIT, own)
    assert families_after((GIT,), PG15, there={"pg15"}) == (own,)
    renamed = SourceFamily(source="pg15", family="pg")
    assert families_after((GIT, renamed), PG15, there={"git", "pg15"}) == (GIT, own)
    without = Source(name="pg15", kind="web", seeds=PG15.seeds)
    assert families_after((GIT, renamed), without, there={"git", "pg15"}) == (GIT,)


def test_a_plan_keeps_them_and_one_without_has_none() -> None:
    assert planned_families({"families": [to_record(GIT)]}) == (GIT,)
    assert planned_families({}) == ()
