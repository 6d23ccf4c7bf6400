"""Laws of URL identity that hold for any text."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.urls import canonical_url, file_path, file_url, folder_of, split_fragment

_parts = st.text(alphabet="aB0%/.?&=#~-_ üé\\@:utm_gclid25eE", max_size=30)
_webs = st.builds("http://h.example/{}".format, _parts)
_files = st.builds("files://notes/{}".format, _parts)
_names = st.text(
    alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="/\0"), min_size=1
).filter(lambda name: name not in {".", ".."})


@given(st.one_of(_webs, _files, st.text()))
def test_a_canonical_url_is_its_own_canonical_url(url: str) -> None:
    canonical = canonical_url(url)
    assert canonical is None or canonical_url(canonical) == canonical
    routed = canonical_url(url, routed=True)
    assert routed is None or canonical_url(routed, routed=True) == routed


@given(_parts, st.sampled_from(["http://h.example/a/b?c", "files://notes/a/b.md"]))
def test_joining_gives_a_canonical_url_or_none(href: str, base: str) -> None:
    canonical = canonical_url(href, base)
    assert canonical is None or canonical_url(canonical) == canonical


@given(_webs)
def test_a_canonical_url_has_no_fragment_and_begins_with_its_folder(url: str) -> None:
    canonical = canonical_url(url)
    assert canonical is not None
    assert split_fragment(canonical) == (canonical, None)
    assert canonical.startswith(folder_of(canonical))


@given(st.lists(_names, min_size=1, max_size=4))
def test_a_file_name_survives_its_url(names: list[str]) -> None:
    path = "/".join(names)
    url = file_url("notes", path)
    assert file_path(url) == path
    assert canonical_url(url) == url
