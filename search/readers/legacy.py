"""Guessing the encoding of bytes from before UTF-8, short ones included.

Every candidate that decodes gets a score: how much of what it yields is usual writing. For East Asian codes that is the share
of common characters; for single-byte codes, whether the letters beyond ASCII belong to one language's alphabet and stand in
words with sensible capitals. Statistics over long texts (charset_normalizer) decide where neither is convincing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

_SAMPLE = 50_000
_SAMPLE_PLACES = 5_000

_HANZI = frozenset(
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从"
    "這為來個們說國時於後會對著裡過發軍無麼經當與學進種將還見沒從點問開關書長門電東車馬語言文字程序系統网网络数据信息"
)
_HANGUL = frozenset(
    "이다는에의가을로하고은를지기사도한자인어서리나시그아대일해정수라니만스부전있제여보과장들게것으면적구주안용요비상원소성와프트"
)
_PUNCTUATION = frozenset("、。，．・：；？！「」『』（）【】《》〈〉…—～“”‘’　％－＋＝／◎○●★☆※→←")


@dataclass(frozen=True, slots=True)
class _Alphabet:
    """Letters beyond ASCII of a language in an encoding, lower case; `usual`: the frequent ones where there are many."""

    encoding: str
    letters: str
    usual: str = ""


_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўђјљњћџѓќѕ"
_ALPHABETS = tuple(  # by how often such files turn up: the first of equal scores wins
    _Alphabet(*row)
    for row in (
        ("cp1252", "äöüß"),
        ("cp1252", "àâæçéèêëîïôœùûüÿ"),
        ("cp1252", "áéíóúñüïªº"),
        ("cp1252", "ãõáéíóúâêôàçüªº"),
        ("cp1252", "àèéìíîòóùú"),
        ("cp1252", "åäöæøéüàô"),
        ("cp1252", "áðéíóúýþæö"),
        ("cp1252", "ëïéèöüáó"),
        ("cp1252", "äöüßàâæçéèêëîïôœùûÿáíóúñãõìòåøðýþšž", "äöüéèàáíóñç"),
        ("cp1250", "áčďéěíňóřšťúůýž"),
        ("cp1250", "ąćęłńóśźż"),
        ("cp1250", "áéíóöőúüű"),
        ("cp1250", "áäčďéíĺľňóôŕšťúýž"),
        ("cp1250", "čćđšž"),
        ("cp1250", "ăâîşţ"),
        ("iso8859-2", "ąćęłńóśźż"),
        ("iso8859-2", "áčďéěíňóřšťúůýž"),
        ("cp1254", "çğıöşüâîûi̇"),
        ("cp1257", "ąčęėįšųūž"),
        ("cp1257", "āčēģīķļņšūž"),
        ("cp1257", "äõöüšž"),
        ("cp1251", _CYRILLIC, "оеаинтсрвлкмдпуяыі"),
        ("koi8_r", _CYRILLIC, "оеаинтсрвлкмдпуяы"),
        ("koi8_u", _CYRILLIC, "оеаинтсрвлкмдпуяі"),
        ("cp866", _CYRILLIC, "оеаинтсрвлкмдпуяы"),
        ("iso8859-5", _CYRILLIC, "оеаинтсрвлкмдпуяы"),
        ("mac_cyrillic", _CYRILLIC, "оеаинтсрвлкмдпуяы"),
        ("cp1253", "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", "αοιετσνηυρπκμλςάίό"),
        ("cp1255", "אבגדהוזחטיךכלםמןנסעףפץצקרשתְֱֲֳִֵֶַָֹֻּׁׂ", "יוהלאמרתבשנםדעקח"),
        ("cp1256", "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگًٌٍَُِّْ", "اليمونرتبةعدسفهكقحأج"),
        ("cp437", "äöüß"),
        ("cp850", "àâæçéèêëîïôœùûüÿ"),
        ("mac_roman", "äöüß"),
        ("mac_roman", "àâæçéèêëîïôœùûüÿ"),
    )
)
_TYPOGRAPHY = frozenset("“”‘’„‚–—…«»‹›€£§°·•©®™½¼¾²³¹µ×±¿¡´¨№ \xa0\xad،؟؛")
_THAI_MARK = re.compile(rb"[\xd0-\xda\xe0-\xe4\xe7-\xee]")
_THAI_MISPLACED = re.compile(rb"(?:^|[^\xa1-\xce\xd1-\xda\xe7-\xee])[\xd0-\xda\xe7-\xee]|[\xe0-\xe4](?![\xa1-\xce])")
_THAI_USUAL = "กขคงจชซญณดตถทธนบปผพภมยรลวศษสหอะัาำิีึืุูเแโใไ็่้์".encode("cp874")
_FOREIGN = re.compile(r"[^\x00-\x7f]")


def guess(data: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8; "cp1252" when nothing speaks for any."""
    east_asian, sure = _best_east_asian(data)
    single_byte, fit = _best_single_byte(data)
    if _is_thai(data):
        return "cp874"
    if sure >= 0.6 and sure >= fit * 0.65:
        return east_asian
    if fit >= 0.9:
        return single_byte
    if sure >= 0.5:
        return east_asian
    return _by_statistics(data) or (single_byte if fit >= 0.6 else "cp1252")


def spoken_name(encoding: str, data: bytes) -> str:
    """The name that people know: the plain standard where the file uses nothing of its vendor's extension."""
    plain = {"cp932": "shift_jis", "cp949": "euc_kr", "cp950": "big5", "big5hkscs": "big5"}.get(encoding)
    if plain:
        return encoding if plain == "euc_kr" and _decoded(data, plain) is None else plain
    if encoding in {"cp1252", "iso8859-1", "latin_1"}:
        return "cp1252" if any(0x80 <= byte <= 0x9F for byte in data) else "latin-1"
    return encoding.replace("iso8859_", "iso8859-")


def _decoded(data: bytes, encoding: str) -> str | None:
    """The text, also when only the last character is cut short; None when the bytes are not of this encoding."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:
            return None
        return data[: error.start].decode(encoding, errors="replace")


def _best_east_asian(data: bytes) -> tuple[str, float]:
    best, best_score = "", 0.0
    for encoding, weigh in (
        ("cp932", _japanese),
        ("euc_jp", _japanese),
        ("cp949", _korean),
        ("gb18030", _simplified),
        ("big5hkscs", _traditional),
    ):
        text = _decoded(data, encoding)
        counts = Counter(_FOREIGN.findall(text[:_SAMPLE])) if text else Counter[str]()
        if counts.total() < 2:
            continue
        score = sum(weigh(character) * number for character, number in counts.items()) / counts.total()
        if score > best_score:
            best, best_score = encoding, score
    return best, best_score


def _lead(character: str, encoding: str) -> int:
    """The first byte of a two-byte character in an encoding, which in all of these rises with rarity; 0 where it has none."""
    try:
        encoded = character.encode(encoding)
    except UnicodeEncodeError:
        return 0
    return encoded[0] if len(encoded) == 2 else 0


def _japanese(character: str) -> float:
    if "\u3041" <= character <= "\u30fe":
        return 1.0
    if character in _PUNCTUATION or "\uff10" <= character <= "\uff5a":
        return 0.7
    if "\uff66" <= character <= "\uff9f":
        return 0.1
    return 0.65 if 0xB0 <= _lead(character, "euc_jp") <= 0xCF else 0.0


def _korean(character: str) -> float:
    if "\uac00" <= character <= "\ud7a3":
        if character in _HANGUL:
            return 1.0
        return 0.7 if _lead(character, "euc_kr") else 0.6
    if "\u3131" <= character <= "\u318e" or character in _PUNCTUATION:
        return 0.7
    return 0.4 if _lead(character, "euc_kr") else 0.0


def _simplified(character: str) -> float:
    if character in _PUNCTUATION:
        return 0.7
    if "\u4e00" <= character <= "\u9fff" and 0xB0 <= _lead(character, "gb2312") <= 0xD7:
        return 1.0 if character in _HANZI else 0.6
    return 0.0


def _traditional(character: str) -> float:
    if character in _PUNCTUATION:
        return 0.7
    if "\u4e00" <= character <= "\u9fff" and 0xA4 <= _lead(character, "big5") <= 0xC6:
        return 1.0 if character in _HANZI else 0.6
    return 0.0


def _is_thai(data: bytes) -> bool:
    """Thai vowels and tone marks stand after consonants, and few letters make up most of it: no other code does both."""
    joined = b" ".join(re.findall(rb"[\xa1-\xfb]+", data[:_SAMPLE]))
    letters = joined.replace(b" ", b"")
    if len(letters) < 8 or _decoded(data, "cp874") is None:
        return False
    marks = len(_THAI_MARK.findall(joined))
    usual = len(letters) - len(letters.translate(None, _THAI_USUAL))
    return marks * 10 >= len(letters) and len(_THAI_MISPLACED.findall(joined)) * 50 <= marks and usual * 10 >= len(letters) * 9


def _best_single_byte(data: bytes) -> tuple[str, float]:
    best, best_score = "", 0.0
    texts: dict[str, list[tuple[str, str, str]]] = {}
    for alphabet in _ALPHABETS:
        if alphabet.encoding not in texts:
            text = _decoded(data, alphabet.encoding)
            texts[alphabet.encoding] = _neighbourhoods(text[:_SAMPLE]) if text else []
        score = _fit(texts[alphabet.encoding], alphabet)
        if score > best_score + 1e-9:
            best, best_score = alphabet.encoding, score
    return best, best_score


def _neighbourhoods(text: str) -> list[tuple[str, str, str]]:
    """Each character beyond ASCII with the one before and the one after it."""
    padded = f" {text} "
    places = islice((match.start() for match in _FOREIGN.finditer(padded)), _SAMPLE_PLACES)
    return [(padded[at - 1], padded[at], padded[at + 1]) for at in places]


def _fit(places: list[tuple[str, str, str]], alphabet: _Alphabet) -> float:
    """Mean weight of the characters beyond ASCII, 0 to 1."""
    if not places:
        return 0.0
    letters = frozenset(alphabet.letters)
    usual = frozenset(alphabet.usual) or letters
    foreign = alphabet.letters[0] > "\u036f"
    total = 0.0
    for before, character, after in places:
        lower = character.lower()[0]
        if character in _TYPOGRAPHY:
            total += 0.98 if character != "\xad" else 0.5
        elif lower not in letters:
            continue
        elif foreign and not (before.lower()[0] in letters or after.lower()[0] in letters):
            total += 0.5 if not (before.isalpha() or after.isalpha()) else 0.0  # whole words are foreign, not single letters
        elif character != lower and (before.islower() or (after.islower() and before.isupper())):
            continue  # a capital inside a word: the letters are those of another encoding
        else:
            total += (1.0 if lower in usual else 0.9) - (0.03 if character != lower else 0.0)
    return total / len(places)


def _by_statistics(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    end = data.rfind(b"\n", 0, _SAMPLE) + 1 if len(data) > _SAMPLE else len(data)
    best = from_bytes(data[: end or _SAMPLE]).best()
    return best.encoding if best else None
