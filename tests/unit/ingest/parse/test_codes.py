import pytest

from ingest.parse.chunking import MAX_CODES, extract_codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("as GOV-0017 says", ("GOV-0017",)),
        ("pass --no-owner or -x.", ("--no-owner", "-x")),
        ("call os.path.join(a)", ("os.path.join",)),
        ("set max_wal_size=1", ("max_wal_size",)),
        ("the CONSTANT_NAME", ("CONSTANT_NAME",)),
        ("read /etc/passwd, then stop", ("/etc/passwd",)),
        ("in 15.20 and 2.0rc1", ("15.20", "2.0rc1")),
        ("in ~/.ssh/id_rsa", ("id_rsa", "~/.ssh/id_rsa")),
        ("raises E501", ("E501",)),
        ("where E = mc² holds", ("E=mc^2",)),
    ],
)
def test_each_kind_of_code_is_found(text: str, codes: tuple[str, ...]) -> None:
    assert extract_codes(text) == codes


@pytest.mark.parametrize(
    "text", ["well-known and/or plain words", "e.g. this, i.e. that", "the end.", "a - b", "___"]
)
def test_prose_holds_no_codes(text: str) -> None:
    assert extract_codes(text) == ()


def test_codes_are_distinct_and_sorted() -> None:
    assert extract_codes("b_2 a_1 b_2") == ("a_1", "b_2")


def test_no_more_codes_than_the_limit_are_kept() -> None:
    assert len(extract_codes(" ".join(f"name_{n}" for n in range(999)))) == MAX_CODES
