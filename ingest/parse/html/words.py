"""Sets of names written as one line of words, and which elements end a block of text."""


def word_set(names: str) -> frozenset[str]:
    """The names in *names*, which white space parts."""
    return frozenset(names.split())


BLOCK_TAGS = word_set(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main "
    "menu nav ol p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp"
)
"""Elements that end a block; text runs through any other, known or not. Source: WHATWG HTML, 15.3."""

BREAK_TAGS = BLOCK_TAGS | {"br"}
"""Elements at which a word ends."""
