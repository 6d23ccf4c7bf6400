"""What is known of addresses before new ones are let in, over both databases."""

from indexes.stores.ledger.frontier import Standing
from indexes.stores.ledger.ledger import Ledger
from schemas.documents import DocumentState, KnownDocument
from tests.fakes.ledger_rows import SITE, make_known


def test_the_standing_of_known_addresses_is_told_and_unknown_ones_are_left_out(ledger: Ledger) -> None:
    there = make_known(
        "a", depth=3, run_id="run-1", state=DocumentState.FETCHED, content_hash="c", reason="r"
    )
    ledger.documents.save([there, make_known("b"), make_known("a", source="other", depth=1)])

    found = ledger.frontier.standing("site", [f"{SITE}/a", f"{SITE}/nowhere"])

    assert found == {
        f"{SITE}/a": Standing(
            uri=f"{SITE}/a",
            state=DocumentState.FETCHED,
            depth=3,
            run_id="run-1",
            reason="r",
            content_hash="c",
        )
    }
    assert ledger.frontier.standing("site", []) == {}


def test_variants_of_a_path_are_itself_with_every_query_and_session_id(ledger: Ledger) -> None:
    alike = ("p", "p?", "p?a=1", "p?b=2/x", "p;jsessionid=9", "p;jsessionid=9?a=1")
    other = ("p/", "p/q?a=1", "p2?a=1", "pp", "P?a=1", "p%3Fa=1", "p=1", "p<")
    ledger.documents.save([make_known(path) for path in (*alike, *other)])

    found = ledger.frontier.variants("site", [f"{SITE}/p", f"{SITE}/none"])

    assert {variant.uri for variant in found[f"{SITE}/p"]} == {f"{SITE}/{path}" for path in alike}
    assert found[f"{SITE}/none"] == ()


def test_awake_documents_are_counted_by_host(ledger: Ledger) -> None:
    ledger.documents.save(
        [
            make_known("a"),
            make_known("b", state=DocumentState.FAILED),
            make_known("c", state=DocumentState.GONE),
            make_known("d", state=DocumentState.OUT_OF_SCOPE),
            make_known("e", source="other"),
        ]
    )
    assert ledger.frontier.count_awake("site", f"{SITE}/") == 2
    assert ledger.frontier.count_awake("site", f"{SITE}:8000/") == 0


def test_a_document_comes_nearer_to_a_seed_and_never_goes_further_away(ledger: Ledger) -> None:
    ledger.documents.save([make_known("a", depth=5), make_known("b", depth=1)])
    early = ledger.documents.get("site", [f"{SITE}/a"])

    ledger.frontier.lower("site", {f"{SITE}/a": 2, f"{SITE}/b": 4, f"{SITE}/nowhere": 0})
    ledger.documents.save(early.values())  # by a batch that had read the row before

    depths = {known.uri: known.depth for known in ledger.documents.of_source("site")}
    assert depths == {f"{SITE}/a": 2, f"{SITE}/b": 1}


def test_what_a_sitemap_claims_to_have_changed_is_looked_at_first_of_its_depth(ledger: Ledger) -> None:
    def claims(path: str, now: str | None, then: str | None = None, depth: int = 0) -> KnownDocument:
        return make_known(path, lastmod=now, lastmod_then=then, depth=depth)

    ledger.documents.save(
        [
            claims("as-before", "2026-03", "2026-03"),
            claims("changed", "2026-01", "2025-12"),
            claims("changed-last", "2026-02", "2025-12"),
            claims("deeper", "2026-09", "2025-12", depth=1),
            claims("new", "2026-01"),
            claims("silent", None),
        ]
    )
    waiting = ledger.frontier.to_look_at("site", run_id="run-1", due_by=None, limit=10)
    assert [one.uri.removeprefix(f"{SITE}/") for one in waiting] == [
        "changed-last",
        "changed",
        "new",
        "as-before",
        "silent",
        "deeper",
    ]
