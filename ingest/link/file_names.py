"""Other names that links give a file of a folder, as the server would that the folder was made for."""

from ingest.urls import is_file_url

_SUFFIXES = (".html", ".htm", ".md", ".markdown", ".mdx", ".rst", ".xhtml")
_STARTS = ("index", "README", "readme")


def other_names(uri: str) -> tuple[str, ...]:
    """Return what else the file of a link may be called; none for what is no local page.

    The same name with another suffix comes first, then what stands beside it, then start pages of its folder.

    `guide`, `guide.htm`, `guide.html`, `guide.md` and `guide/index.html` name the same page: servers add
    suffixes and start pages, and generators of sites turn one suffix into another. Two files that differ in
    nothing else are two pages; each is found by its own name. A suffix that names no kind of page
    (`guide.v2`) says what a file is, and has no other names.
    """
    if not is_file_url(uri):
        return ()
    stem = _stem(uri)
    if stem is None:
        return ()
    beside = [stem + suffix for suffix in ("", *_SUFFIXES)] if not stem.endswith("/") else [stem]
    inside = [f"{stem.rstrip('/')}/{start}{suffix}" for start in _STARTS for suffix in ("", *_SUFFIXES)]
    folder = [f"{stem}/"] if not stem.endswith("/") else []
    names = (*_same(uri), *beside, *folder, *inside)
    return tuple(dict.fromkeys(name for name in names if name != uri))


def _same(uri: str) -> list[str]:
    """A start page with each suffix: `a/README.md` is nearer to `a/README.html` than any `a/index.md`."""
    above, _, name = uri.rpartition("/")
    own = next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)
    return [f"{above}/{own}{suffix}" for suffix in ("", *_SUFFIXES)] if own in _STARTS else []


def _stem(uri: str) -> str | None:
    """An address without suffix, start page and closing slash; None where another suffix says what it is."""
    above, _, name = uri.rpartition("/")
    stem = next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)
    if stem == name and "." in name[1:] and not name.rpartition(".")[2].isdigit():
        return None
    is_root = above.count("/") == 2
    if stem in _STARTS or not stem:
        return f"{above}/" if is_root else above
    return f"{above}/{stem}"
