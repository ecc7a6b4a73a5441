"""Words for the keyword index, and what a person's query asks of it.

In: text of documents and queries. Out: derived terms, which are indexed beside the text, and a ParsedQuery. Knows nothing of SQL.

The tokenizer of SQLite finds words between spaces and punctuation. What it cannot see is derived here, the same way on both
sides: n-grams of scripts without spaces, the parts and the joined form of identifiers (`FooBar`, `foo_bar`, `foo-bar`), names
that end or begin in a sign (`C++`, `C#`, `.NET`), and letters that are written in more than one way (`ﬁ`, `ё`, full width).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from search.languages import query_stopwords

# Mn and Mc: by default the vowel signs of Thai, Khmer, Hindi, Tamil ... would cut words to pieces.
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
MAX_TERMS = 64
MAX_REPEATS = 3  # a word said twice counts twice, as in BM25's own formula
MAX_QUERY_CHARACTERS = 10_000
TITLE_REPEATS = 3  # FTS5 weighs whole columns: a title's derived terms gain their weight by standing there more than once

_HAN_KANA_HANGUL = (
    "\u3005-\u3007\u3021-\u3029\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3105-\u312f\u31a0-\u31bf"
    "\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e"
)
_THAI_LAO_KHMER_MYANMAR = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\u1000-\u103f\u1050-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)
_UNSPACED = re.compile(f"(?P<pairs>[{_HAN_KANA_HANGUL}]+)|(?P<triples>[{_THAI_LAO_KHMER_MYANMAR}]+)")
_GRAM = {"pairs": 2, "triples": 3}

_SPACED = rf"[^\W_{_HAN_KANA_HANGUL}{_THAI_LAO_KHMER_MYANMAR}]"
_TOUCHING = re.compile(
    rf"(?<=[{_HAN_KANA_HANGUL}{_THAI_LAO_KHMER_MYANMAR}]){_SPACED}++|"
    rf"(?<![^\W_]){_SPACED}++(?=[{_HAN_KANA_HANGUL}{_THAI_LAO_KHMER_MYANMAR}])"
)
_COMPOUND = re.compile(rf"(?<!{_SPACED}){_SPACED}++(?:(?:_++|[-.\u2010]){_SPACED}++)+")
_CAMEL = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]*?(?:[a-z][A-Z]|[0-9][A-Z][a-z]|[A-Z]{2}[a-z]))[A-Za-z0-9]++")
# Between lower and upper case, and before the last capital of a row ("HTTP|Server"), but not in a plural ("APIs").
_CASE_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z](?!s\b)[a-z])")
_SIGNED = re.compile(r"(?<!\w)(?P<name>[A-Za-z]\w{0,15})(?P<sign>\+\+|#)(?P<version>\d*)(?![\w+#])")
_DOTTED = re.compile(r"(?<![\w.)\]])\.(?P<name>[A-Za-z]\w{1,15})\b(?![(])")
_SIGN_NAMES = {"++": "plus", "#": "sharp"}
_MAX_JOINED = 64
_MAX_PARTS = 8

_INVISIBLE = dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])
_OPTIONAL_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]")
_FOLDED = re.compile("[\u00df\u1e9e\u0370-\u03ff\u1f00-\u1fff\u0400-\u045f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
_CLUSTER = re.compile(r"(?s).[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u064b-\u065f\u0670\u3099\u309a\u1160-\u11ff]*")
_SHORT_I = re.compile("([\u0418\u0438])\u0306")  # the Russian й is a letter of its own, unlike ё


@dataclass(frozen=True, slots=True)
class Term:
    """What is derived from characters `start` to `end` of a text: one or more words. name: from an identifier or a signed name."""

    text: str
    start: int
    end: int
    name: bool = False


def derived(text: str, *, title: str = "", headings: Sequence[str] = ()) -> str:
    """The derived terms of a passage, separated by spaces; "" where its plain words say everything.

    title: the document's. Terms of title and headings are repeated, because they weigh more. Names stand there once: how often
    they occur is counted in the text itself, and counted twice they would drown the other words.
    """
    above = derived_terms("\n".join((title, *headings)))
    below = derived_terms(text)
    terms = [term.text for term in above if not term.name] * TITLE_REPEATS
    names: set[str] = set()
    for term in (*(term for term in above if term.name), *below):
        if not term.name or term.text not in names:
            terms.append(term.text)
            names.update({term.text} if term.name else ())
    return " ".join(terms)


def derived_terms(text: str) -> list[Term]:
    """The derived terms of a text in order, each with its place in the text as given."""
    normal, places = _normalized(text)
    found = [*_grams(normal), *_identifiers(normal), *_signed_names(normal), *_respelled(text, normal, places)]
    found.sort(key=lambda term: (term.start, term.end))
    if places is None:
        return found
    return [replace(term, start=places[term.start].start, end=places[term.end - 1].stop) for term in found]


def fold(word: str) -> str:
    """One spelling for a word's letters: compatibility forms resolved, invisible characters, optional marks and ё dropped."""
    word = unicodedata.normalize("NFKC", word.translate(_INVISIBLE))
    if not _FOLDED.search(word):
        return word
    bare = _OPTIONAL_MARKS.sub("", _SHORT_I.sub(lambda match: match[1] + "\ue000", unicodedata.normalize("NFD", word)))
    return unicodedata.normalize("NFC", bare.replace("\ue000", "\u0306")).replace("ß", "ss").replace("ẞ", "SS")


def _normalized(text: str) -> tuple[str, list[slice] | None]:
    """The folded text and, where folding changed anything, for each of its characters the stretch of `text` it comes from."""
    if text.isascii() or fold(text) == text:
        return text, None
    folded: list[str] = []
    places: list[slice] = []
    for match in _CLUSTER.finditer(text):
        piece = fold(match[0])
        folded.append(piece)
        places.extend([slice(*match.span())] * len(piece))
    return "".join(folded), places


def _grams(text: str) -> Iterator[Term]:
    """Overlapping n-grams of each stretch; its last characters also as shorter grams, for words shorter than the gram.

    A word that touches such a stretch ("使用Python") is one with it for the tokenizer, so it is derived too.
    """
    if text.isascii():
        return
    for match in _UNSPACED.finditer(text):
        start, end = match.span()
        size = _GRAM[match.lastgroup or "pairs"]
        for position in range(start, end):
            stop = min(position + size, end)
            yield Term(text[position:stop], position, stop)
    for match in _TOUCHING.finditer(text):
        yield Term(match[0].lower(), *match.span())


def _identifiers(text: str) -> Iterator[Term]:
    """`foo_bar` as foobar, `FooBar` as foo bar: with the tokenizer's own words either spelling then finds the other."""
    for match in _COMPOUND.finditer(text):
        joined = _joined(match[0])
        if joined:
            yield Term(joined, *match.span(), name=True)
    for match in _CAMEL.finditer(text):
        parts = _case_parts(match[0])
        if len(parts) > 1:
            yield Term(" ".join(parts).lower(), *match.span(), name=True)


def _joined(compound: str) -> str:
    """`foo_bar` as one word; "" for numbers (dates, versions), which joined would mean something else."""
    joined = re.sub(r"[-_.\u2010]+", "", compound).lower()
    return joined if len(joined) <= _MAX_JOINED and not joined.isdigit() else ""


def _case_parts(word: str) -> list[str]:
    """`HTTPServerError` as HTTP, Server, Error. Long or much divided words are data, not names, and stay whole."""
    parts = _CASE_BOUNDARY.split(word)
    return parts if len(word) <= _MAX_JOINED and len(parts) <= _MAX_PARTS else [word]


def _signed_names(text: str) -> Iterator[Term]:
    for match in _SIGNED.finditer(text) if "+" in text or "#" in text else ():
        name = _signed(match)
        yield Term(f"{name} {name}{match['version']}" if match["version"] else name, *match.span(), name=True)
    for match in _DOTTED.finditer(text):
        yield Term("dot" + match["name"].lower(), *match.span(), name=True)


def _signed(match: re.Match[str]) -> str:
    sign = _SIGN_NAMES[match["sign"]]
    return match["name"].lower() + (sign * 2 if sign == "plus" else sign)


def _respelled(text: str, normal: str, places: list[slice] | None) -> Iterator[Term]:
    """Words whose letters folding changed: the tokenizer sees them in the text as they were written."""
    if places is None:
        return
    for match in re.finditer(r"\w+", normal):
        start, end = match.span()
        written = text[places[start].start : places[end - 1].stop]
        if unicodedata.normalize("NFC", written) != match[0] and not _UNSPACED.search(match[0]):
            yield Term(match[0].lower(), start, end)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is looked up as one: `tokens` (words separated by spaces, in this order), the last one as a prefix if asked."""

    tokens: str
    prefix: bool = False

    @property
    def match(self) -> str:
        """The unit in the language of FTS5, where nothing inside quotation marks is an operator."""
        return f'"{self.tokens}"' + ("*" if self.prefix else "")


@dataclass(frozen=True)
class ParsedQuery:
    """A query, taken apart. Nothing in it can be a syntax error.

    words: any of them may occur. phrases: every one must occur; a phrase over two kinds of script is several units, all of which
    must occur. excluded: none may occur, each again as units. text: the query as a person would say it, without what is to be
    left out: this is what an embedding model reads. notes: what was not done as written, in words for the person.
    """

    words: tuple[Unit, ...] = ()
    phrases: tuple[tuple[Unit, ...], ...] = ()
    excluded: tuple[tuple[Unit, ...], ...] = ()
    text: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def match(self) -> str:
        """The whole query for FTS5's MATCH; "" when there is nothing to look for."""
        if not self.words and not self.phrases:
            return ""
        required, either = self.requirement, " OR ".join(unit.match for unit in self.words)
        if required and either:
            # FTS5 has no optional words: the phrase beside them keeps passages that hold none of them.
            either = f"({required}) AND ({either} OR {self.phrases[0][0].match})"
        return f"({either or required}) NOT ({self.exclusion})" if self.excluded else either or required

    @property
    def any_match(self) -> str:
        """Whatever is looked for, any of it, for FTS5's MATCH: where a text shows what was found."""
        units = (*self.words, *(unit for phrase in self.phrases for unit in phrase))
        return " OR ".join(unit.match for unit in dict.fromkeys(units))

    @property
    def requirement(self) -> str:
        """What must occur, for FTS5's MATCH; "" when nothing must."""
        return " AND ".join(unit.match for phrase in self.phrases for unit in phrase)

    @property
    def exclusion(self) -> str:
        """What must not occur, for FTS5's MATCH; "" when nothing is excluded."""
        return " OR ".join("(" + " AND ".join(unit.match for unit in units) + ")" for units in self.excluded)


_QUOTED = re.compile(r'(?:(?<=[\s(\[{,:;])|^)(?P<minus>-?)"(?P<phrase>[^"]*)"')
_SMART_QUOTES = str.maketrans("“”„‟", '""""')
_UNUSABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0700-\u074f\u0780-\u0dff\u0e31-\u0e4e"
    "\u0eb1-\u0ecd\u0f00-\u0fff\u102b-\u109d\u1700-\u1cff\u1dc0-\u1dff\u3099\u309a\ua800-\uabff"
)
_LETTER = rf"(?:[^\W_]|[{_MARKS}])"
_SHORT_NUMBER = re.compile(r"\d{1,3}")
_POSSESSIVE = re.compile("['\u2019]s$")
_NAME = re.compile(rf"{_LETTER}+")
_JOINER = r"(?:_+|::|->|[-.'&/@:+\\\u2010\u2019])"
_WORD = re.compile(rf"{_SIGNED.pattern}|{_DOTTED.pattern.replace('name', 'dotted')}|(?P<plain>{_LETTER}+(?:{_JOINER}{_LETTER}+)*)")
_EXCLUDING = re.compile(r"-(?=[^\W\d_]|\.[A-Za-z])")
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})
_MAX_PHRASE = 32
_MAX_BESIDE_PHRASE = 8  # whoever writes more words than this beside a phrase describes something: the marks only quote


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a query. exact: what stands for the whole of it; scored: what is looked for, the whole before its parts."""

    exact: tuple[Unit, ...]
    scored: tuple[Unit, ...]
    stop: bool = False


def parse(query: str, *, phrases_required: bool = True) -> ParsedQuery:
    """Take apart any text that a person types: never raises, whatever the text.

    Words are OR-ed and stop words dropped, unless nothing else is there. "A quoted phrase" must occur; beside more than 8 other
    words, or when not phrases_required, it is read as its words. `-word` and `-"a phrase"` must not occur; a hyphen inside a
    word, before a number, doubled or alone excludes nothing. `word*` is a prefix. Upper-case AND, OR, NOT are read as the stop
    words they look like; other upper-case words (IT, WHO) are never stop words.
    """
    clean = fold(_UNUSABLE.sub(" ", query[:MAX_QUERY_CHARACTERS])).translate(_SMART_QUOTES)
    phrases: list[tuple[Unit, ...]] = []
    excluded: list[tuple[Unit, ...]] = []

    def take(match: re.Match[str]) -> str:
        if not match["minus"] and not phrases_required:
            return f" {match['phrase']} "
        if units := _phrase(match["phrase"]):
            (excluded if match["minus"] else phrases).append(units)
        return " "

    kept, dropped = _take_out(_QUOTED.sub(take, clean))
    excluded.extend(word.exact for word in dropped)
    if phrases and sum(not word.stop for word in kept) > _MAX_BESIDE_PHRASE:
        return parse(query, phrases_required=False)
    said = _without_stop_words(kept, phrases)
    words = tuple(unit for unit in list(said)[:MAX_TERMS] for _ in range(min(said[unit], MAX_REPEATS)))
    spoken = _QUOTED.sub(lambda match: "" if match["minus"] else match["phrase"], clean).split()
    text = " ".join(chunk for chunk in spoken if not _EXCLUDING.match(chunk))
    notes: list[str] = []
    if len(said) > MAX_TERMS or len(query) > MAX_QUERY_CHARACTERS:
        notes.append(f"the query is long: its first {min(len(said), MAX_TERMS)} different terms were looked for")
    if excluded and not words and not phrases:
        notes.append("the query only says what to leave out: add a word to look for")
    return ParsedQuery(words, tuple(phrases[:MAX_TERMS]), tuple(excluded[:MAX_TERMS]), text, tuple(notes))


def _take_out(text: str) -> tuple[list[_Word], list[_Word]]:
    """The words to look for and the words to leave out."""
    stop_words = query_stopwords(text)
    shouting = text.isupper()
    kept: list[_Word] = []
    dropped: list[_Word] = []
    for chunk in text.split():
        minus = _EXCLUDING.match(chunk)
        target = dropped if minus else kept
        for match in _WORD.finditer(chunk, minus.end() if minus else 0):
            prefix = chunk[match.end() : match.end() + 1] == "*"
            target.extend(_read(match, stop_words, prefix=prefix, shouting=shouting))
    return kept, dropped


def _without_stop_words(words: Sequence[_Word], phrases: Sequence[object]) -> Counter[Unit]:
    """The units of the words and how often each was said: whole words first, so that a limit cuts what matters least."""
    if phrases or not all(word.stop for word in words):
        words = [word for word in words if not word.stop]
    return Counter([*(unit for word in words for unit in word.scored[:1]), *(unit for word in words for unit in word.scored[1:])])


def _read(match: re.Match[str], stop_words: frozenset[str], *, prefix: bool, shouting: bool) -> Iterator[_Word]:
    if match["sign"]:
        signed = Unit(_signed(match))
        version = (Unit(signed.tokens + match["version"]),) if match["version"] else ()
        yield _Word(version or (signed,), (signed, *version))
    elif match["dotted"]:
        # A long name is looked for without its dot too; "net" and "env" by themselves are other words.
        dotted, bare = (Unit("dot" + match["dotted"].lower()),), (Unit(match["dotted"].lower()),)
        yield _Word(dotted, dotted + bare if len(match["dotted"]) > 3 else dotted)
    elif _UNSPACED.search(match["plain"]):
        yield _Word(tuple(_unspaced_phrase(match["plain"])), tuple(_gram_units(match["plain"])))
    elif any(map(str.isalnum, match["plain"])):
        yield _plain(match["plain"], stop_words, prefix=prefix, shouting=shouting)


def _plain(word: str, stop_words: frozenset[str], *, prefix: bool, shouting: bool) -> _Word:
    """A word, which may be an identifier or several words held together by signs."""
    acronym = len(word) > 1 and word.isupper() and not shouting and word not in _OPERATORS
    names = [name for name in _NAME.findall(_POSSESSIVE.sub("", word)) if any(map(str.isalnum, name))]
    stop = not acronym and (_is_stop(word, stop_words) or all(_is_stop(name, stop_words) for name in names))
    phrase = (Unit(" ".join(names[:_MAX_PHRASE]).lower(), prefix),)
    parts = [part for name in names for part in _case_parts(name)]
    if prefix or len(parts) == 1:
        return _Word(phrase, phrase, stop and not prefix)
    # The joined form stands in the index for every spelling; as a phrase the same words would count once more.
    joined = _joined(word) if len(names) == 1 or _COMPOUND.fullmatch(word) else ""
    exact = (Unit(joined),) if joined else phrase
    pieces = dict.fromkeys(piece.lower() for piece in (*names, *parts) if len(names) > 1 or len(piece) < len(word))
    useful = [Unit(piece) for piece in pieces if len(piece) > 1 and piece not in stop_words and not _SHORT_NUMBER.fullmatch(piece)]
    return _Word(exact, (*exact, *useful) if joined or not useful else tuple(useful), stop)


def _is_stop(word: str, stop_words: frozenset[str]) -> bool:
    word = word.lower().replace("\u2019", "'")
    return word in stop_words or word.removesuffix("'s") in stop_words


def _gram_units(word: str) -> Iterator[Unit]:
    """The n-grams of a word and what stands between them. Only a stretch shorter than its gram is looked for as a prefix."""
    for match in _UNSPACED.finditer(word):
        size = _GRAM[match.lastgroup or "pairs"]
        run = match[0]
        if len(run) < size:
            yield Unit(run, prefix=True)
        for position in range(len(run) - size + 1):
            yield Unit(run[position : position + size])
    for piece in _UNSPACED.sub(" ", word).split():
        if any(map(str.isalnum, piece)):
            yield Unit(" ".join(re.split(r"[\W_]+", piece)).strip().lower())


def _phrase(text: str) -> tuple[Unit, ...]:
    """The units that together stand for a quoted phrase; () when it holds no word."""
    units: list[Unit] = []
    spaced: list[str] = []
    for chunk in text.split()[:_MAX_PHRASE]:
        if _UNSPACED.search(chunk):
            units.extend(_unspaced_phrase(chunk))
        else:
            spaced.extend(_NAME.findall(chunk))
            units.extend(Unit(_signed(match)) for match in _SIGNED.finditer(chunk))
    spaced = [word.lower() for word in spaced if any(map(str.isalnum, word))][:_MAX_PHRASE]
    if spaced:
        units.insert(0, Unit(" ".join(spaced)))
    return tuple(units)


def _unspaced_phrase(chunk: str) -> Iterator[Unit]:
    """The derived terms of a text are in order, so a stretch of it is a phrase of them, less the short grams at its end."""
    terms = derived_terms(chunk)
    *_, last = _UNSPACED.finditer(chunk)
    size = min(_GRAM[last.lastgroup or "pairs"], last.end() - last.start())
    if terms[-1].start < last.end():
        terms = [term for term in terms if term.end < last.end() or term.end - term.start >= size]
    prefix = size < _GRAM[last.lastgroup or "pairs"] and terms[-1].end == last.end()
    yield Unit(" ".join(term.text for term in terms), prefix)
