"""Words of which notices to a visitor are made: what failed, what to do about it, and the site they are on.

Beginnings of words, in lower case, of at least four letters, or whole words; of Japanese and Chinese, parts
of the text. A short page that is made of little else is a notice, however it is worded.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

WORDS = 60
"""Words that a page may have to be known by its words alone."""


def _stems(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FAILED = """
error err fail broke broken unavail denied deny forbid blocked block refus reject expir suspen terminat
missing cannot can't couldn't unable wrong problem troubl difficult outage offline interrupt exceed limit
limited invalid unexpect unsupport restrict violat banned mainten upgrad improv construct moved remov delet
disabl robot robots bot fatal exception crash overload timeout timed busy down doesn't exist dead unknown
wasn't isn't didn't not closed experienc rate hiccup stopped rejected prohibit unauthor undefined refused
unreach loading challenge break fehler störung wartung gesperrt verweigert nicht leider vorübergehend
überlast abgelaufen unerwartet technisch erreur panne maintenance indisponib problème refusé interdit
introuvable expiré technique impossible bloqué fallo fuera problema mantenimiento denegado bloqueado caducad
inesperado imposible técnic mejor errore guasto manutenzione negato bloccato scadut imprevisto impossibile
tecnic aggiorn erro falha manutenção negado expirad indisponív fout storing onderhoud geweigerd geblokkeerd
verlopen onverwacht niet tijdelijk ошибк недоступ запрещ заблокир технич неполадк сбой обслужив удален
перегруж
"""
_ASKED = """
please sorry apolog inconven patien thank thanks again later retry refresh reload contact support
administrat webmaster owner check enable verify confirm wait minutes minute moment soon shortly while back
return report head try sign login notified bearing continu subscribe difficulties engineers team expect
urgent proceed bitte entschuldig später erneut versuchen kürze minuten geduld verständnis anmeld wenden
gleich zurück veuillez désolé excuse réessay ultérieur rétabli patience délais quelques bientôt équipes
merci favor disculp intent nuevo tarde minutos gracias volver vuelva visit pronto trabaj prego scus riprov
tardi minuti grazie pazienza presto subito torn desculp tente novamente mais obrigad breve voltar probeer
opnieuw excuses straks nog пожалуйста извин позже повторит минут скоро попроб обновит обратит
"""
_PLACE = """
this page site website webpage server service services request requested url address access browser
javascript cookie cookies link domain host hosting application your you've you're you we're our here network
connect proc provider code reference incident displayed loaded loading processing served visit view account
session seite dienst anfrage adresse zugriff diese ihre unsere angezeigt serveur demande accès navigateur
cette votre notre nous página sitio servidor servicio solicitud dirección acceso navegador esta nuestro
estamos pagina sito servizio richiesta indirizzo accesso questa nostro stiamo serviço pedido endereço acesso
nosso verzoek adres toegang deze onze страниц сайт сервер сервис запрос адрес доступ браузер эта наш
"""
_PERSON = """
please sorry you your you're you've yourself we our us we're we've we'll thank thanks apolog visitor bitte
sie ihnen ihr ihre ihren ihrem ihrer wir uns unser leider dein deine deinen du vous votre vos nous notre nos
veuillez désolé merci usted ustedes su sus nuestro nuestra estamos hemos disculp gracias lamentamos nosotros
favor tuo tua suo sua nostro nostra stiamo abbiamo prego scus grazie siamo spiacenti você seu nosso nossa
desculp obrigad uw onze wij helaas alstublieft excuses je jouw вы вам вас ваш мы наш нам извин пожалуйста
сожалению szukasz proszę przepraszamy państwa
"""
_FAILED_SIGNS = _stems(
    """
    エラー できません できない 障害 集中 メンテナンス 見つかりません
    错误 失败 无法 不存在 维护 繁忙 异常 开小差 禁止 故障 不可用 被拒绝
    """
)
_ASKED_SIGNS = _stems(
    """
    ください しばらく 時間をおいて 申し訳 ご迷惑
    请 稍后 抱歉 重试 刷新 联系 返回
    """
)

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


_STEMS = (_stems(_FAILED), _stems(_ASKED), _stems(_PLACE), _stems(_PERSON))
_LENGTHS = range(3, 1 + max(len(stem) for stems in _STEMS for stem in stems))


@dataclass(frozen=True, slots=True)
class Voice:
    """How a text speaks: distinct words of what failed and of what to do, and the share of words of notices.

    `addresses`: it speaks to a visitor, or of the people behind the site.
    """

    failed: int = 0
    asked: int = 0
    addresses: bool = False
    share: float = 0.0


def hear(text: str) -> Voice:
    """Count the words of a short text, in lower case, of which notices are made."""
    if len(_CJK.findall(text)) >= 8:
        failed, asked = (sum(sign in text for sign in signs) for signs in (_FAILED_SIGNS, _ASKED_SIGNS))
        return Voice(failed, asked, True, 1.0 if len(text) <= 2 * WORDS else 0.0)
    words = _WORD.findall(text)
    found: tuple[set[str], ...] = (set(), set(), set(), set())
    known = 0
    for word in words:
        hits = _hits(word)
        known += bool(hits)
        for group, stem in hits:
            found[group].add(stem)
    return Voice(len(found[0]), len(found[1]), bool(found[3]), known / len(words) if words else 0.0)


@lru_cache(maxsize=4096)
def _hits(word: str) -> tuple[tuple[int, str], ...]:
    """The groups that a word belongs to, with its stem in each."""
    return tuple((group, stem) for group, stems in enumerate(_STEMS) if (stem := _stem(word, stems)))


def _stem(word: str, stems: frozenset[str]) -> str | None:
    """The beginning of a word that is a stem; stems of fewer than four letters are whole words."""
    if word in stems:
        return word
    return next((word[:size] for size in _LENGTHS if 4 <= size < len(word) and word[:size] in stems), None)
