"""Routes are decided by the text of a question and by what the catalogue knows."""

import pytest

from retrieval.question.route import Known, Route, route_of, wants_detail
from retrieval.question.words import code_tokens, content_words, id_tokens
from schemas.names import leading_code


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("Where do I find the changelog?", Route.NAVIGATION),
        ("open the release notes", Route.NAVIGATION),
        ("backup and restore chapter", Route.NAVIGATION),
        ("How do I bring every single one of the old tables back from the nightly docs", Route.PLAIN),
        ("What does page 3 say about fees?", Route.PDF),
        ("What is shown in Figure 2?", Route.PDF),
        ("Which table 4 column holds totals?", Route.PDF),
        ("revenue in the 10-K of 2023", Route.PDF),
        ("slides", Route.PLAIN),
        ("How do I restore a table?", Route.PLAIN),
        ("What supersedes the Session API on page 3?", Route.RELATIONSHIP),
        ("Which services depend on the billing worker?", Route.RELATIONSHIP),
        ("What is the Session API?", Route.PLAIN),
        ("Is UTF-8 supported?", Route.PLAIN),
    ],
)
def test_the_text_alone_decides_when_the_catalogue_knows_nothing(text: str, route: Route) -> None:
    assert route_of(text, Known()) is route


def test_a_known_code_or_document_routes_by_id_before_all_else() -> None:
    assert route_of("open max_wal_size", Known(holders={"max_wal_size": ("chunk:a",)})) is Route.ID
    assert route_of("page 3 of GOV-0017", Known(documents=("page:x",))) is Route.ID


def test_a_code_beside_other_words_takes_no_question_over_however_rare_it_is() -> None:
    flag, common = {"-s": ("chunk:a",)}, {"PATH_MAX": tuple(f"chunk:{n}" for n in range(11))}
    assert route_of("Which option makes read silent, -s or -r?", Known(holders=flag)) is Route.PLAIN
    assert route_of("Why is a file name longer than PATH_MAX refused?", Known(holders=common)) is Route.PLAIN
    rare = {"E_NOSPACE": ("chunk:a",)}
    assert route_of("Why does a backup stop with E_NOSPACE?", Known(holders=rare)) is Route.PLAIN
    assert route_of("on which page is E_NOSPACE on page 3", Known(holders=rare)) is Route.PDF
    assert Known(holders={**flag, **common, **rare}).telling == rare
    assert route_of("-s", Known(holders=flag)) is Route.ID
    assert route_of("what is PATH_MAX", Known(holders=common)) is Route.ID


def test_names_that_the_catalogue_knows_count_as_names() -> None:
    assert route_of("Does the base backup need the write-ahead log", Known()) is Route.PLAIN
    known = Known(names=("base backup", "write ahead log"))
    assert route_of("Does the base backup need the write-ahead log", known) is Route.RELATIONSHIP


def test_details_are_asked_for_by_their_names() -> None:
    assert wants_detail("What are the default values?")
    assert not wants_detail("Why is it slow?")


def test_a_question_that_equals_a_title_navigates() -> None:
    assert route_of("Write-ahead log", Known(is_name=True)) is Route.NAVIGATION


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("how big is max_wal_size?", ("max_wal_size",)),
        ("What does --no-owner do in pg_dump", ("--no-owner", "pg_dump")),
        ("call os.path.join() twice", ("os.path.join",)),
        ("edit /etc/pg_hba.conf", ("/etc/pg_hba.conf",)),
        ("set WALLEVEL and PATH", ("WALLEVEL", "PATH")),
        ("What depends on GOV-0017?", ("GOV-0017",)),
        ("PRD-0008-some-title", ("PRD-0008-some-title",)),
        ("What changed in 15.2?", ()),
        ("What does clause 4.2 say?", ("4.2",)),
        ("§ 12.3.1 and Sections 4.10", ("12.3.1", "4.10")),
        ("section 4.2-beta, clause 4", ()),
        ("What does E = mc^2 say of GOV-0017?", ("E=mc^2", "GOV-0017")),
        ("a well-known fact, e.g. this", ("e.g",)),
    ],
)
def test_codes_are_cut_out_of_a_question_as_written(text: str, tokens: tuple[str, ...]) -> None:
    assert code_tokens(text) == tokens


def test_plain_words_are_never_document_ids() -> None:
    assert id_tokens("What depends on GOV-0017 or backup-guide?") == ("GOV-0017", "backup-guide")
    assert id_tokens("home about index") == ()


@pytest.mark.parametrize(
    ("doc_id", "prefix"),
    [
        ("PRD-0008-some-title", "PRD-0008"),
        ("GOV-0017", "GOV-0017"),
        ("GOV-0017x", None),
        ("backup-guide", None),
    ],
)
def test_the_code_prefix_of_an_id_ends_at_a_dash(doc_id: str, prefix: str | None) -> None:
    assert leading_code(doc_id) == prefix


def test_stop_words_count_only_when_nothing_else_is_there() -> None:
    assert content_words("What is the WAL?") == ("wal",)
    assert content_words("What is it?") == ("what", "is", "it")
