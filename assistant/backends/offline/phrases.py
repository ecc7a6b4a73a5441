"""The few sentences of its own that the offline backend says, in the language of the question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """Fixed sentences. Those with {…} are filled in by `str.format`."""

    absent: str
    nearest: str
    weak: str
    documents: str
    one_document: str
    goes_on: str
    failed: str
    no_tool: str
    quotes: tuple[str, str] = ("“", "”")


_PHRASES = {
    "en": Phrases(
        absent="Not in your documents.",
        nearest="The nearest:",
        weak="No passage says this in the same words. The nearest in meaning:",
        documents="{total} documents",
        one_document="1 document",
        goes_on="The list goes on.",
        failed="The search failed: {reason}",
        no_tool="No search tool is at hand for this question.",
    ),
    "de": Phrases(
        absent="Nicht in deinen Dokumenten.",
        nearest="Am nächsten kommen:",
        weak="Keine Stelle sagt es mit diesen Worten. Dem Sinn nach am nächsten:",
        documents="{total} Dokumente",
        one_document="1 Dokument",
        goes_on="Die Liste geht weiter.",
        failed="Die Suche ist fehlgeschlagen: {reason}",
        no_tool="Für diese Frage ist kein Suchwerkzeug da.",
        quotes=("„", "“"),
    ),
    "fr": Phrases(
        absent="Absent de vos documents.",
        nearest="Le plus proche :",
        weak="Aucun passage ne le dit en ces termes. Le plus proche par le sens :",
        documents="{total} documents",
        one_document="1 document",
        goes_on="La liste continue.",
        failed="La recherche a échoué : {reason}",
        no_tool="Aucun outil de recherche ne convient à cette question.",
        quotes=("« ", " »"),
    ),
    "es": Phrases(
        absent="No está en tus documentos.",
        nearest="Lo más cercano:",
        weak="Ningún pasaje lo dice con estas palabras. Lo más cercano en sentido:",
        documents="{total} documentos",
        one_document="1 documento",
        goes_on="La lista continúa.",
        failed="La búsqueda falló: {reason}",
        no_tool="No hay ninguna herramienta de búsqueda para esta pregunta.",
        quotes=("«", "»"),
    ),
    "ja": Phrases(
        absent="文書の中にありません。",
        nearest="最も近いもの：",
        weak="同じ言葉で述べた箇所はありません。意味が最も近いもの：",
        documents="{total}件の文書",
        one_document="1件の文書",
        goes_on="一覧は続きます。",
        failed="検索に失敗しました：{reason}",
        no_tool="この質問に使える検索ツールがありません。",
        quotes=("「", "」"),
    ),
    "zh": Phrases(
        absent="您的文档中没有。",
        nearest="最接近的：",
        weak="没有段落用同样的词说明。意思最接近的：",
        documents="{total}个文档",
        one_document="1个文档",
        goes_on="列表未完。",
        failed="搜索失败：{reason}",
        no_tool="没有适用于这个问题的搜索工具。",
    ),
}


def phrases(language: str) -> Phrases:
    """The sentences of a language, English ones where there are none."""
    return _PHRASES.get(language, _PHRASES["en"])


ABSENT = tuple(phrases_.absent for phrases_ in _PHRASES.values())
