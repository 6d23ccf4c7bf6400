"""How near an encoder puts a question and a passage that have nothing to do with each other, and whether it
puts a question beside a passage in another language.

MiniLM puts them at right angles or nearly so, BGE at a cosine of .55, E5 at .75: what is above that says
something. Thresholds and shares are of the part above.
"""

from typing import Final

import numpy as np

from indexes.ports import Encoder

NEGLIGIBLE: Final = 0.3
"""Up to this nothing is taken off: for MiniLM it would be .2, and its figures are worse then (measured)."""

_QUANTILE: Final = 0.9
"""Of pairs of one small manual; on four real ones half of all pairs of question and passage lie below it."""

_PAIRS: Final = (
    (
        "How do I restore a single file?",
        "Name the file after restore and the day it is taken from: restore notes.txt --day 2024-05-02. What "
        "lies there already is kept under another name unless you ask for it to be replaced.",
    ),
    (
        "Which ports must the firewall leave open?",
        "Agents call the server on port 7401, and the server never calls back. Between two servers port 7402 "
        "carries copies; nothing else needs to come in.",
    ),
    (
        "What happens when the disk is full?",
        "Once less than two percent are free, new jobs wait and a warning goes to every administrator. Jobs "
        "that are under way may finish, and nothing that is stored is deleted.",
    ),
    (
        "Can two people share one account?",
        "An account belongs to one person, since every change is logged with its name. Make a group instead "
        "and put both into it: its members see the same folders.",
    ),
    (
        "Where is the log file written?",
        "Messages go to /var/log/keeper.log, a new file each night, and fourteen of them are kept. With "
        "verbose = true each request is written down with its duration.",
    ),
    (
        "How is the licence counted?",
        "Each machine that has sent data within thirty days counts as one seat. Machines that are only read "
        "from, and those of the test network, need none.",
    ),
    (
        "Which versions of Windows are supported?",
        "The agent runs on Windows 10 and later and on Server 2019. On older systems the installer stops "
        "with code 12 and leaves everything as it was.",
    ),
    (
        "Why is the first copy so slow?",
        "At first everything has to be read and compressed, which a single core does at about forty "
        "megabytes a second. Later only blocks that differ are sent.",
    ),
    (
        "How do I change the password of the administrator?",
        "Open the settings of the person, choose credentials and type the new secret twice. All sessions end "
        "within a minute, and tokens stay valid until they are revoked.",
    ),
    (
        "What does the value retention mean?",
        "It says how many days an old state can be brought back. A shorter time frees room at the next "
        "cleaning, a longer one holds only for what comes later.",
    ),
)
"""Questions with their answers; each is unrelated to the answers of the others."""


_TRANSLATED: Final = (
    (0, "Wie hole ich eine einzelne Datei zurück?"),
    (1, "Какие порты должны быть открыты в межсетевом экране?"),
    (2, "ディスクがいっぱいになるとどうなりますか。"),
    (3, "Могут ли два человека пользоваться одной учётной записью?"),
    (7, "最初のコピーはなぜそんなに遅いのですか。"),
    (8, "Comment changer le mot de passe de l'administrateur ?"),
)
"""Some of the questions in other languages, by their place."""

_JOINED: Final = 4
"""Questions that must be nearest to their answer, of these six. By chance it is one; measured: five with E5,
one with MiniLM, none with BGE."""


def measure_languages(encoder: Encoder) -> bool:
    """Whether an encoder puts questions nearest to what answers them in another language."""
    questions = np.stack([encoder.encode_query(question) for _, question in _TRANSLATED])
    passages = encoder.encode_documents([passage for _, passage in _PAIRS])
    nearest = (questions @ passages.T).argmax(axis=1).tolist()
    return sum(place == int(at) for (place, _), at in zip(_TRANSLATED, nearest, strict=True)) >= _JOINED


def measure_unrelated(encoder: Encoder) -> float:
    """Return the cosine of a question and a passage that does not answer it, to two decimals; 0 if small."""
    questions = np.stack([encoder.encode_query(question) for question, _ in _PAIRS])
    passages = encoder.encode_documents([passage for _, passage in _PAIRS])
    cosines = (questions @ passages.T)[~np.eye(len(_PAIRS), dtype=bool)]
    found = round(float(np.quantile(cosines, _QUANTILE)), 2)
    return found if found > NEGLIGIBLE else 0.0


def least_cosine(share: float, unrelated: float) -> float:
    """Return the cosine at *share* of the way from an unrelated text to the same text.

    >>> least_cosine(0.7, 0.0), round(least_cosine(0.7, 0.5), 2)
    (0.7, 0.85)
    """
    return unrelated + share * (1.0 - unrelated) if unrelated else share
