"""Words, names, codes, stems and sentences of a text, as questions and headings are compared by them."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from schemas.text import find_formulas

CODE_TOKENS_MAX = 8

_DOCUMENT_ID = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b(?:-\w+)*")
# Names are looked for where a word begins: one of 10,000 letters would else be gone through from each.
_CODE = re.compile(
    r"""(?<!\S)--?[a-z][\w-]*            # --flag, -f
      | (?<![\w./-])/[\w.-]+(?:/[\w.-]+)+  # /etc/fstab
      | (?<!\w)\w+(?:\.\w+)+             # dotted.name
      | (?<!\w)\w+(?:_\w+)+              # snake_name
      | \b[A-Z][A-Z0-9_]{3,}\b           # CONSTANT
    """,
    re.VERBOSE,
)
SECTION_WORDS = frozenset(
    {
        "section",
        "clause",
        "chapter",
        "article",
        "paragraph",
        "abschnitt",
        "kapitel",
        "artikel",
        "ziffer",
        "punkt",
    }
)
_SECTION = re.compile(
    rf"(?:§+|\b(?:{'|'.join(sorted(SECTION_WORDS))})s?)\s*(\d+(?:\.\d+)+)(?![\w.-]*\w)", re.IGNORECASE
)
"""The number of a section, by which it is called: `clause 4.2`."""
_WORD = re.compile(r"[\w'’-]+")
_AROUND = "\"'’‘“”.,;:!?()[]¿¡«»"

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been but by can could did do does for from had has have how i if in into is
        it its many me much my of on or our shall should so than that the their them then there these they
        this those to was we were what when where which who whom whose why will with would you your""",
    )
)
"""English words that carry no topic; anchors and headings are compared without them."""

_OTHER_STOP_WORDS = tuple(
    frozenset(re.findall(r"\w+", words))
    for words in (
        """aber als am an auch auf aus bei bin bis da damit das dass dem den der des die dies diese dieser du
        durch ein eine einem einen einer eines er es für gegen hat hatte haben ich ihr im in ist
        kann kein keine können man mein meine mich mir mit muss müssen nach nicht noch nur oder ob
        sein sich sie sind so soll über um und uns unter vom von vor wann war waren warum was weil
        welche welchem welchen welcher welches wem wen wenn wer werden wie wird wir wo womit zu zum
        zur""",
        """a à ai au aux avec c ce ces cet cette comme comment d dans de des dois doit du elle en est et eu
        faut il ils j je l la le les leur leurs lors lui m ma mais me mes moi mon n ne nos notre
        nous on ont où ou par pas pendant peut peux pour pourquoi qu quand que quel quelle quelles
        quels qui quoi s sa sans se ses si son sont sous sur t ta te tes tu un une vos votre vous y""",
        """a al ante antes cada como cómo con cual cuál cuáles cuando cuándo cuánta cuántas cuánto cuántos de
        debe debo del desde donde dónde durante el ella en entre es esta está están este esto ha han
        hasta hay la las le les lo los me mi mis muy no nos o para pero por porque puede puedo que
        qué quien quién se ser si sin sobre son su sus también tiene tu un una uno unos y ya yo""",
        """а без бы был была были быть в вам вас во вот все всех вы где да для до его ее её ей если есть ещё
        же за зачем и из или им их к как какая какие каких какой какое каком какую когда кому кто куда
        ли мне мной можно мой моя мои мы на надо нас не него нет ни но ну нужно о об он она они от
        кого каким перед по под почему при с сколько со так там то тот ты у уже чего чем что чтобы эта эти это
        этот я""",
    )
)
"""The same in German, French, Spanish and Russian."""
_FUNCTION_WORDS = {
    "en": STOP_WORDS,
    **dict(zip(("de", "fr", "es", "ru"), _OTHER_STOP_WORDS, strict=True)),
    **{
        language: frozenset(re.findall(r"\w+", words))
        for language, words in {
            "it": """al alla che chi come con cosa da dei del della delle di dove gli i il io la le lo mi mia
            mio nel nella non per perché posso può quale quali quando quante quanto si sono un una è""",
            "nl": """aan bij dan dat de een er het hoe hoeveel ik in is kan kunnen met mijn niet of om op te
            van voor waar waarom wanneer wat welke wordt worden zijn""",
            "pt": """a ao as com como da das do dos e em eu faço meu minha na nas no nos não o onde os para
            por pode posso qual quais quando quantas quanto quantos que quem se são um uma você à é""",
        }.items()
    },
}
"""By which a language is told, by its tag (RFC 5646)."""
_LETTERS = {
    "ja": "\u3040-\u30ff",
    "ko": "\u1100-\u11ff\uac00-\ud7af",
    "zh": "\u3400-\u9fff",
    "el": "\u0370-\u03ff",
    "he": "\u0590-\u05ff",
    "th": "\u0e00-\u0e7f",
}
"""Letters of one language, of Japanese those that Chinese has not. Source: Unicode, Blocks.txt."""
_LATIN = re.compile(r"[a-z\u00c0-\u024f\u1e00-\u1eff]", re.IGNORECASE)


def id_tokens(text: str) -> tuple[str, ...]:
    """What may be a document's own id: `GOV-0017`, `PRD-0008-some-title`, `backup-guide`.

    A plain word without digit, dash or underscore never is, or every question would name documents.
    """
    words = [word.strip("'’") for word in _WORD.findall(text)]
    return _distinct(word for word in words if re.search(r"\w[-_]\w|[A-Za-z]\d|\d[A-Za-z]", word))


def code_tokens(text: str) -> tuple[str, ...]:
    """Formulas of *text*, then its ids, flags, paths, dotted and snake names and constants, each in order.

    Bare numbers and versions (`3.1`) are left out: they qualify a question and do not name its subject. The
    number of a section does, and stands before all (`clause 4.2`).
    """
    found = [(match.start(), match[0]) for regex in (_DOCUMENT_ID, _CODE) for match in regex.finditer(text)]
    tokens = [token for _, token in sorted(found) if re.search(r"[^\W\d_]", token)]
    return _distinct((*_SECTION.findall(text), *find_formulas(text), *tokens))[:CODE_TOKENS_MAX]


def content_words(text: str) -> tuple[str, ...]:
    """Folded words of *text* without stop words, in order; the whole text's words if all are stop words."""
    words = tuple(word.casefold() for word in re.findall(r"\w+", text))
    return tuple(word for word in words if word not in STOP_WORDS) or words


@lru_cache(maxsize=256)
def stop_words_of(text: str) -> frozenset[str]:
    """Return the stop words of the language that *text* has most of: English, where another has not two.

    >>> "wie" in stop_words_of("Wie oft läutet die Glocke?"), "die" in stop_words_of("What does die do?")
    (True, False)
    """
    words = frozenset(re.findall(r"\w+", text.casefold()))
    best = max(_OTHER_STOP_WORDS, key=lambda known: len(words & known))
    return best if len(words & best) > max(1, len(words & STOP_WORDS)) else STOP_WORDS


@lru_cache(maxsize=256)
def language_of(text: str) -> str | None:
    """Return the language of a question, by its letters or its function words; None if they do not tell.

    >>> [language_of(one) for one in ("Wie oft läutet die Glocke?", "鐘は?", "What is 鐘?", "Backup", "Як?")]
    ['de', 'ja', 'en', None, None]
    """
    letters = re.findall(r"[^\W\d_]", text)
    if 2 * len(_LATIN.findall(text)) < len(letters):
        found = (language for language, own in _LETTERS.items() if re.search(f"[{own}]", text))
        if language := next(found, None):
            return language
    words = frozenset(re.findall(r"\w+", text.casefold()))
    counts = {language: len(words & known) for language, known in _FUNCTION_WORDS.items()}
    most = max(counts.values())
    best = [language for language, count in counts.items() if count == most]
    return best[0] if len(best) == 1 and most > (best[0] != "en") else None


def primary_language(tag: str | None) -> str | None:
    """Return the language of a tag, without its region: `pt` of `pt-BR`.

    Source: RFC 5646, 2.2.1.
    """
    return tag.partition("-")[0].casefold() if tag else None


def searched_words(text: str) -> str:
    """Return *text* without stop words, all else as written; all of it where nothing else is in it.

    A passage that has "how do I" in it says nothing by that (measured: bench/RESULTS.md). `IT` and `CAN` in
    capitals are names, unless all is in capitals.
    """
    bare, stop_words = [(word, word.strip(_AROUND)) for word in text.split()], stop_words_of(text)
    kept = [
        word
        for word, one in bare
        if one.casefold() not in stop_words or (len(one) > 1 and one.isupper() and not text.isupper())
    ]
    return " ".join(kept) or text


def fold(text: str) -> str:
    """Fold case, punctuation and white space, to compare names."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def fold_spaces(text: str) -> str:
    """Fold case and white space, to compare what was asked or written."""
    return " ".join(text.casefold().split())


def _distinct(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tokens))


_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ions?|ings?|ed|es|s)$")


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the words of *text* without stop words and without the commonest English endings."""
    return frozenset(_ENDING.sub("", word) for word in content_words(text))


_DOUBLED = re.compile(r"(?<=\w\w)([bdfglmnprt])\1$")


def full_stems(text: str) -> frozenset[str]:
    """Return the words of *text* without stop words, folded: lease and leases, policy and policies are one.

    Headings get by with less folding; here a word that does not match sends a question past its page.

    >>> full_stems("policies stopped leases") == full_stems("a policy stops a lease")
    True
    """
    return frozenset(stem_line(text))


def stem_line(text: str) -> tuple[str, ...]:
    """Return the same in the order of the text, each as often as it stands there.

    >>> stem_line("the father of the director") == stem_line("the director of the father")
    False
    """
    return tuple(map(_stem, content_words(text)))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    (stem,) = stems(word)
    bare = _DOUBLED.sub(r"\1", stem)
    if len(bare) > 3 and bare.endswith("e"):
        return bare[:-1]
    return f"{bare[:-1]}i" if len(bare) > 3 and bare.endswith("y") else bare


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Share of common words; 0 where both are empty."""
    return len(left & right) / len(left | right) if left | right else 0.0


def f1(left: frozenset[str], right: frozenset[str]) -> float:
    """Harmonic mean of how much of each is in the other."""
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


@dataclass(frozen=True, slots=True)
class Rarity:
    """How much a word says: its inverse frequency over some texts; a word of none says most."""

    texts: int
    counts: Mapping[str, int]

    def of(self, word: str) -> float:
        """Return `ln(1 + (N - n + .5) / (n + .5))`, always positive (BM25; Robertson, Zaragoza 2009)."""
        holding = self.counts.get(word, 0)
        return math.log(1 + (self.texts - holding + 0.5) / (holding + 0.5))

    def cover(self, wanted: Collection[str], there: Collection[str]) -> float:
        """Return the share in [0, 1] of the words *wanted*, each by its rarity, that are *there*."""
        whole = sum(self.of(word) for word in sorted(wanted))
        return sum(self.of(word) for word in sorted(wanted) if word in there) / whole if whole else 0.0


def rarity_among(texts: Collection[frozenset[str]]) -> Rarity:
    """Return how rare each word is among the words of some texts."""
    return Rarity(len(texts), Counter(word for there in texts for word in there))


_END = re.compile(r"(?<=[.?!;:])\s+|(?<!\s)\s+[-\u2013\u2014]\s+")
WORDS_MIN = 2
"""Content words that a part must have, to be asked by itself."""
FIRST_MAX, LAST_MAX = 4, 4
"""Parts asked of a long question: it begins with what it is about and ends with what it asks. Each costs one
reading of every passage."""


def question_parts(question: str) -> tuple[str, ...]:
    """Return the question and, where it has several sentences, each of them that says something.

    A cross-encoder that learned on short questions reads past one that comes behind a story.

    >>> question_parts("The tests fail. How do I skip slow tests?")
    ('The tests fail. How do I skip slow tests?', 'The tests fail.', 'How do I skip slow tests?')
    >>> question_parts("How do I skip slow tests?")
    ('How do I skip slow tests?',)
    """
    parts = [part for one in _END.split(question) if _says_enough(part := one.strip())]
    asked = parts if len(parts) <= FIRST_MAX + LAST_MAX else [*parts[:FIRST_MAX], *parts[-LAST_MAX:]]
    return tuple(dict.fromkeys((question, *asked)))


def _says_enough(part: str) -> bool:
    return sum(word not in STOP_WORDS for word in content_words(part)) >= WORDS_MIN


_BLANK = re.compile(r"\n[ \t]*\n")
_SENTENCE = re.compile(r".+?(?:[.!?…][\"'”’)\]]*(?=\s)|$)")


def cut_sentences(text: str) -> tuple[str, ...]:
    """Cut prose at the ends of its blocks and sentences; white space is folded."""
    blocks = (" ".join(block.split()) for block in _BLANK.split(text))
    return tuple(match[0].strip() for block in blocks for match in _SENTENCE.finditer(block))
