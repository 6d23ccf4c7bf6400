"""Sentences, clauses and words of a text in a form in which they compare, and the English they go by."""

import re
from dataclasses import dataclass
from functools import lru_cache


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[\w'/]+", text))


EMPTY = frozenset(
    _words(
        """a an the this that these those it its it's they them their he she his her we our you your one of to
        in on by for from with as and or is are was were be been being has have had do did does will would
        shall can could may might must should need there then so such also which who what any some other
        another every each even but because while although though whereas if when where than how whether
        therefore thus"""
    )
)
"""Words that only join others."""
OPENERS = frozenset(
    _words(
        """unless since until after before during without within despite under over unlike like both either
        neither once only instead besides according depending through between among about no not all any most
        some several many other another each every here there now today later earlier also even just whether
        however otherwise therefore thus moreover further besides additionally finally"""
    )
)
"""Words that open a sentence before a name and are none themselves."""
NEGATORS = frozenset(_words("not no never none nobody nothing nowhere neither nor without unable"))
DENYING = _words(
    """refuse reject deny decline forbid forbidden prohibit ban barred disallow discourage disable exclude
    fail lack discontinue prevent avoid impossible unsuitable unsupported unavailable unnecessary inadmissible
    cease abolish withhold ineligible bypass skip omit"""
)
"""Words that say no by themselves; most have a partner that says yes (enable, allow, include)."""
PARTICLES = frozenset(_words("off up down out away back"))
OPPOSITES = tuple(
    (left, right)
    for left, right in (
        pair.split("/")
        for pair in _words(
            """open/close always/never start/stop begin/end increase/decrease add/remove before/after
            earlier/later first/last minimum/maximum above/below upper/lower inside/outside indoors/outdoors
            required/optional mandatory/optional public/private synchronous/asynchronous
            online/offline lock/unlock encrypt/decrypt upload/download import/export ascending/descending
            oldest/newest longest/shortest more/fewer higher/lower larger/smaller faster/slower read/write
            primary/secondary horizontal/vertical permanent/temporary automatic/manual success/failure
            visible/hidden cold/hot wet/dry internal/external enter/leave valid/invalid
            keep/remove keep/delete keep/discard input/output
            frequent/infrequent complete/incomplete correct/incorrect consistent/inconsistent active/inactive
            compatible/incompatible direct/indirect dependent/independent sufficient/insufficient"""
        )
    )
)
"""Pairs of which a passage that has one does not bear out a sentence with the other."""
EXCLUSIVE = tuple(
    frozenset(_words(group))
    for group in (
        "black white grey gray red green blue yellow orange purple brown pink amber",
        "north south east west northern southern eastern western",
        "left right",
        "hourly daily weekly monthly quarterly yearly annually",
    )
)
"""Words of which one is wrong where another stands."""
UNIT_WORDS = (
    frozenset(_words("milliseconds seconds minutes hours days weeks months years")),
    frozenset(_words("bits bytes kilobytes megabytes gigabytes terabytes")),
)
"""Units without a number of their own, as in "the number of seconds": of a group only one is right."""
PER = {
    "hour": ("hourly",),
    "day": ("daily",),
    "week": ("weekly",),
    "month": ("monthly",),
    "year": ("yearly", "annual", "annually"),
}
"""Words that say "a year" too."""
IRREGULAR = {
    form: forms.split()[0]
    for forms in (
        "run ran running",
        "send sent",
        "keep kept",
        "hold held",
        "lose lost",
        "write wrote written",
        "give gave given",
        "take took taken",
        "begin began begun",
        "go goes went gone",
        "build built",
        "make made",
        "find found",
        "leave left",
        "choose chose chosen",
        "break broke broken",
        "grow grew grown",
        "get got gotten",
        "buy bought",
        "pay paid",
        "say said",
        "tell told",
        "show shown",
        "know knew known",
        "drive drove driven",
        "rise rose risen",
        "fall fell fallen",
    )
    for form in forms.split()[1:]
}
"""The first form of verbs whose other forms no rule gives."""
SMALL_NUMBERS = _words(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
)
ORDINALS = _words(
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth"""
)
TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
MONTHS = _words("january february march april may june july august september october november december")


_SENTENCE_END = re.compile(r"(?<=[.!?])(?<![\s(.][A-Z]\.)[\"”’)]*\s+(?=[^\sa-z]|\w+_)|\n+")
_OPENER = (
    r"(?:but|because|since|although|though|while|whereas|which|who|unless|until|otherwise|if|when|as\s+long\s+as|"
    r"so\s+that|provided|once\s+(?!per\b|an?\b|every\b|more\b)|without\s+\w+ing)"
)
_AUXILIARY = (
    r"(?:is|are|was|were|be|been|can|could|may|might|must|shall|should|will|would|do|does|did|has|have|had|not|no|"
    r"never|it|they|he|she|we|you|then|afterwards)"
)
_BREAK = re.compile(
    rf"[;:]\s+|,\s+(?!\d|(?:or|nor)\s+(?:for|in|on|at|by|to|of|from|with)\b)|(?<!\bat)(?<!\s)\s+(?={_OPENER}\b)"
    rf"|(?<!\s)\s+(?=then\b)|(?<!\s)\s+(?=that\s+{_AUXILIARY}\b)|(?<!\s)\s+and\s+(?=(?:\w+\s+)?{_AUXILIARY}\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"\s*(?!(?:and|but|then|afterwards)\s+(?:the\b|an?\b|(?-i:[A-Z])))"
    rf"(?:(?:and|but|with|without|by|at|in|on|for)\b|{_AUXILIARY}\b)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\(([^()]*)\)\s*")
_WORD = re.compile(r"[^\W_][\w=+#^.:/-]*[^\W]|[^\W_]")
_SUFFIX = re.compile(
    r"(?<=\w{3})(?:isation|ization|ations?|ments?|ions?|ings?|edly|ed|ers?|ies|es|s|ly|y|e)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a sentence that says one thing, in folded words.

    `before` is what a clause that has no subject of its own ("and must not be used") goes on from.
    """

    text: str
    words: tuple[str, ...]
    before: tuple[str, ...] = ()

    @property
    def stems(self) -> frozenset[str]:
        """Stems of the words, without those that only join others."""
        return _stems(self.words)


@lru_cache(maxsize=4096)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in EMPTY)


def split_sentences(text: str) -> tuple[str, ...]:
    """Cut a text after full stops that a capital follows, and at line ends."""
    return tuple(part.strip() for part in _SENTENCE_END.split(text) if re.search(r"\w", part))


@lru_cache(maxsize=4096)
def split_clauses(sentence: str) -> tuple[Clause, ...]:
    """Cut a sentence at commas, semicolons and the words that open a clause."""
    found: list[Clause] = []
    for part in _BREAK.split(_spell_out(sentence)):
        if words := clause_words(part):
            before = found[-1].words if found and _GOES_ON.match(part) else ()
            found.append(Clause(text=part.strip(), words=words, before=before))
    return tuple(found)


def put_asides_last(sentence: str) -> str:
    """Return a sentence with what stands in brackets at its end, where it parts no words from each other."""
    asides = _ASIDE.findall(sentence)
    return "; ".join((_ASIDE.sub(" ", sentence), *asides)) if asides else sentence


def whole(sentence: str) -> Clause:
    """Return a sentence as one clause."""
    return Clause(text=sentence, words=clause_words(_spell_out(sentence)))


def clause_words(text: str) -> tuple[str, ...]:
    """Return the folded words of *text*, identifiers whole."""
    return tuple(match[0].casefold() for match in _WORD.finditer(text))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Take off the commonest English endings, so that forms of a word compare."""
    base = IRREGULAR.get(word, word)
    if len(base) <= 3 or not base.isalpha():
        return base
    cut = _SUFFIX.sub("", base)
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut


def is_filler(word: str) -> bool:
    """Whether a word only joins others."""
    return word in EMPTY


def _spell_out(text: str) -> str:
    """Return `cannot` and `doesn't` their `not` as a word of its own."""
    plain = text.replace("’", "'")
    plain = re.sub(r"\b(can)(?:not|'t)\b", r"\1 not", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\bwon't\b", "will not", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\b(?:nothing|none|nobody|no\s+one)\s+but\b", "only", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\b(?:leave|leaves|left|leaving)\s+out\b", "omit", plain, flags=re.IGNORECASE)
    plain = re.sub(r"(?<=\w\s)None\b", "null", plain)  # a value, and no denial
    plain = re.sub(r"\bfree\s+of\b", "without", plain, flags=re.IGNORECASE)
    return re.sub(r"n't\b", " not", plain)
