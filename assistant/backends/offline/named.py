"""Filters that a question names outright: tags, authors, languages, metadata, file types.

In: a Question, Names. Out: values, which are taken from the question. A value that the library does not have is kept where the
words leave no doubt ("tagged kafka"): the honest answer is that there are none.
"""

from __future__ import annotations

import re

from assistant.backends.offline.names import Names
from assistant.backends.offline.question import Question, Word
from assistant.backends.offline.wording import BOUNDARY, JOINING, LANGUAGE_NAMES, NOT, TAGGED, UNSPACED_LANGUAGE_NAMES, WRITING

_BY = re.compile(
    r"(?P<verb>\b(?:written|authored|published|created|verfasst|geschrieben|écrits?|rédigés?|escrit[oa]s?|redactad[oa]s?)\s+)?"
    r"\b(?:by|from|of|von|par|por|de|der Autorin|des Autors)\s+$",
    re.IGNORECASE,
)
_NOT_WRITTEN = re.compile(r"\w+(?:ed|en)\s*$")
_LABEL_BEFORE = re.compile(r"(?:author|autor|auteur|autorin)\s*(?:is|=|:)?\s*$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_IN_LANGUAGE = re.compile(r"\b(?:in|auf|en)\s+(?P<name>[^\W\d_]+)\b", re.IGNORECASE)
_SPEAKING = re.compile(r"\b(?:explain|answer|reply|translate|say|called|call|antworte|erkläre|sagt man)\b", re.IGNORECASE)
_FILE_TYPE = re.compile(
    r"\b(?:of|with|in)?\s*(?:the )?(?:file ?types?|formats?|extensions?|suffix)\s*[:=]?\s*(?P<name>\.?[\w+#]{1,12})\b"
    r"|\b(?:in|as|als|im)\s+(?P<as>\.?[\w+#]{1,12})[- ](?:format|files?)\b|\*(?P<glob>\.\w{1,10})\b",
    re.IGNORECASE,
)
_COMPARISONS = {
    **dict.fromkeys(("over", "above", "more than", "greater than", "longer than", "über", "mehr als", "plus de", "más de"), ">"),
    **dict.fromkeys(
        ("under", "below", "less than", "fewer than", "shorter than", "unter", "weniger als", "moins de", "menos de"), "<"
    ),
    **dict.fromkeys(("at least", "mindestens", "au moins", "al menos"), ">="),
    **dict.fromkeys(("at most", "up to", "höchstens", "au plus", "como máximo"), "<="),
    **dict.fromkeys(("is not", "not", "!=", "other than", "nicht"), "!="),
    **dict.fromkeys(("is", "=", ":", "==", "of", "equals", "ist", "est", "es", "von", "de"), "="),
    **{sign: sign for sign in (">=", "<=", ">", "<")},
}
_SIGNS = "|".join(re.escape(word) for word in sorted(_COMPARISONS, key=len, reverse=True))
_LEAD = r"(?P<lead>\b(?:with|whose|having|where|that|which|had|have|has|mit|avec|con)\s+)?(?:\b(?:the|a|an|der|dem|le|la|el)\s+)?"


def find_tags(question: Question, names: Names) -> list[str]:
    """Take "tagged x and y"."""
    found: list[str] = []
    match = TAGGED.search(question.free_text())
    if match and NOT.search(question.text[: match.start()]):
        return found
    if not match:
        for word in question.words:
            known = names.tag(word.text[1:]) if word.text.startswith("#") and not word.quoted else None
            if known:
                found.append(known)
                question.take(word.start, word.end)
        return found
    end = match.start()
    for word in _listed(question, match.end()):
        name = word.text.removeprefix("#")
        known = names.tag(name)
        if known is None and found:
            break
        found.append(known or name)
        end = word.end
    if end > match.start():
        question.take(match.start(), end)
    return found


def _listed(question: Question, start: int) -> list[Word]:
    """The words from a place on, without those that join them, up to the first that describes something else."""
    listed: list[Word] = []
    for index, word in enumerate(question.words):
        if word.start < start - 1:
            continue
        lower = word.lower
        if lower in JOINING:
            continue
        if lower in BOUNDARY or (listed and "?" in question.text[listed[-1].end : word.start]):
            break
        if listed and not re.search(r"[,&+]|\b(?:and|und|et|y)\b", question.text[listed[-1].end : word.start]):
            break
        listed.append(question.words[index])
    return listed


def find_author(question: Question, names: Names, *, after_documents: bool) -> list[str]:
    """Take "by NAME", "NAME wrote", "NAME's runbooks". after_documents: the question asks for documents, so "from NAME" counts."""
    for index in range(len(question.words)):
        if not question.is_free(index):
            continue
        texts = tuple(_POSSESSIVE.sub("", word.text) for word in question.words[index : index + 4])
        known = names.author(texts)
        if known and _is_author(question, names, index, known[1], after_documents):
            return [known[0]]
    return _unknown_author(question, after_documents)


def _is_author(question: Question, names: Names, index: int, count: int, after_documents: bool) -> bool:
    """Whether the name stands where an author's does; then it is taken with the words that say so."""
    first, last = question.words[index], question.words[index + count - 1]
    before, after = question.text[: first.start], question.text[last.end :]
    if _POSSESSIVE.search(last.text):
        following = question.words[index + count : index + count + 3]
        if any(names.is_document(word.lower) for word in following):
            question.take(first.start, last.end)
            return True
        return False
    wrote = re.match(rf"\s+(?:has |have |had |hat )?(?:(?:also|recently|ever|last) )?{WRITING}\b", after, re.IGNORECASE)
    asked = re.search(r"\b(?:did|has|have|hat|haben)\s+$", before, re.IGNORECASE) and re.search(
        rf"\b{WRITING}\b", after, re.IGNORECASE
    )
    by = _BY.search(before)
    labelled = _LABEL_BEFORE.search(before)
    if by and not wrote and not asked and not labelled:
        preceding = before[: by.start()].rstrip()
        word = preceding.rsplit(maxsplit=1)[-1].lower() if preceding else ""
        described = not word or names.is_document(word.strip(",.")) or question.is_taken(len(preceding) - 1)
        if (
            not by["verb"]
            and not described
            and (_NOT_WRITTEN.search(preceding) or not after_documents or "by" not in by[0].lower())
        ):
            return False
    if not (wrote or asked or by or labelled):
        return False
    start = by.start() if by else labelled.start() if labelled else first.start
    question.take(start, last.end + (wrote.end() if wrote else 0))
    return True


def _unknown_author(question: Question, after_documents: bool) -> list[str]:
    """Take "written by Jane Doe", or "by Jane Doe" in a request for documents, whoever that is."""
    pattern = re.compile(
        r"\b(?P<verb>(?:written|authored|verfasst|geschrieben|écrits?|rédigés?|escrit[oa]s?)\s+)?(?:by|von|par|por)\s+"
        r"(?P<name>[A-ZÀ-Þ][\w'’-]+(?:\s+[A-ZÀ-Þ][\w'’-]+){1,2})"
    )
    match = pattern.search(question.free_text())
    if match and (match["verb"] or after_documents):
        question.take(*match.span())
        return [match["name"]]
    return []


def find_language(question: Question, *, asked: bool) -> list[str]:
    """Take "written in Japanese", "documents in French", "auf Deutsch". asked: the question asks for documents."""
    free = question.free_text()
    for match in _IN_LANGUAGE.finditer(free):
        code = LANGUAGE_NAMES.get(match["name"].lower())
        before = free[: match.start()]
        if (
            not code
            or NOT.search(before)
            or _SPEAKING.search(before)
            or (match["name"].islower() and match[0].lower().startswith("in "))
        ):
            continue
        written = re.search(
            r"(?:\b(?:written|published|available|drafted|geschrieben|verfasst|rédigée?s?|écrite?s?|escrit[oa]s?|anything|something"
            r"|is|are|sind|ist|sont|están?)\s*|\n\s*)$",
            before,
            re.IGNORECASE,
        )
        if written or asked:
            question.take(
                written.start() if written and written[0].strip() in {"written", "geschrieben"} else match.start(), match.end()
            )
            return [code]
    for name, code in UNSPACED_LANGUAGE_NAMES.items():
        place = question.text.find(name)
        if place >= 0 and re.match(
            r".{0,3}(?:文書|資料|ドキュメント|ファイル|で書|文档|文件|写的|的|$)", question.text[place + len(name) :]
        ):
            question.take(place, place + len(name))
            return [code]
    return []


def find_file_type(question: Question, names: Names) -> list[str]:
    """Take "in PDF format", "of type markdown", "*.go"."""
    match = _FILE_TYPE.search(question.free_text())
    name = names.format(match["name"] or match["as"] or match["glob"]) if match else None
    if not match or not name:
        return []
    question.take(*match.span())
    return [name]


def find_metadata(question: Question, names: Names) -> list[str]:
    """Take conditions on metadata: "with status superseded", "severity=SEV1", "more than 5 reading minutes".

    A key beside a value says so only behind a word such as "with" or a noun that means documents: "the customer Smith" does not.
    """
    found = []
    free = question.free_text()
    for spoken, key, values in names.metadata_keys():
        keyed = r"[\s_-]+".join(_in_any_person(word) for word in spoken.split())
        behind = rf"{_LEAD}(?<!\w){keyed}\b\s*(?P<sign>{_SIGNS})?\s*(?P<value>\"[^\"\n]+\"|[\w.-]+)"
        before = rf"{_LEAD}(?P<sign>{_SIGNS})\s+(?P<value>[0-9][0-9.]*)\s+{keyed}\b"
        match = re.search(before, free, re.IGNORECASE) or re.search(behind, free, re.IGNORECASE)
        if match is None or NOT.search(free[: match.start()]):
            continue
        word = free[: match.start()].rsplit(maxsplit=1)[-1:]
        if not (match["sign"] or match["lead"] or (word and names.is_document(word[0].lower()))):
            continue
        sign = _COMPARISONS[match["sign"].lower()] if match["sign"] else "="
        value = _value(question, match, values, sign)
        if value is None:
            continue
        found.append(f"{key}{sign}{value[0]}")
        question.take(match.start(), max(value[1], match.end()) if match.end("value") < match.end() else value[1])
        free = question.free_text()
    return found


def _in_any_person(word: str) -> str:
    """A word of a key as a pattern: "applies_to" is said as "apply to"."""
    stem = re.escape(word.removesuffix("ies")) if word.endswith("ies") else re.escape(word)
    return stem + "(?:ies|y)" if word.endswith("ies") else stem


def _value(question: Question, match: re.Match[str], values: tuple[str, ...], sign: str) -> tuple[str, int] | None:
    """The value of a condition and where it ends: one that the key has, or any behind a sign such as "=" or a comparison."""
    start = match.start("value")
    for value in sorted(values, key=len, reverse=True):
        if question.text[start : start + len(value)].casefold() == value.casefold():
            return value, start + len(value)
    written = match["value"].strip('"')
    typed = match["sign"] in {"=", ":", "==", "!="} or (sign in {">", "<", ">=", "<="} and written.replace(".", "").isdigit())
    return (written.rstrip("."), match.end()) if typed else None
