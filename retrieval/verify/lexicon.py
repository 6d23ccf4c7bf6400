"""English words that the verifier goes by: those that join, those that deny, those that oppose each other."""

import re


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
