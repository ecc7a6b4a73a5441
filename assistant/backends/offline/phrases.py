"""The few sentences of its own that the offline backend says, in the language of the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """Fixed sentences. Those with {…} are filled in by `str.format`."""

    absent: str
    unsure: str
    undated: str
    nearest: str
    weak: str
    documents: str
    some: str
    one_document: str
    goes_on: str
    failed: str
    no_tool: str
    understood: str
    verbs: Mapping[str, str]
    fields: Mapping[str, str]
    uncounted: str
    quotes: tuple[str, str] = ("“", "”")
    comma: str = ", "
    both: str = " and "
    brackets: str = " ({})"
    stop: str = "."
    colon: str = ":"
    own_reasons: bool = True  # whether the reasons that a tool gives, in English, go with the others of this language

    def days(self, start: str | None, end: str | None) -> str:
        """A span of ISO days in words, both inclusive, None where open; one of them is given."""
        if start and end:
            return self.verbs["span"].format(start=start, end=end)
        return self.verbs["since"].format(day=start) if start else self.verbs["until"].format(day=end)


_PHRASES = {
    "en": Phrases(
        absent="Not in your documents.",
        unsure="Nothing in your documents says this for certain.",
        undated="Nothing dated {days} answers this. Without the date:",
        nearest="The nearest:",
        weak="No passage says this in the same words. The nearest in meaning:",
        documents="{total} documents",
        some="{shown} of {total} documents",
        one_document="1 document",
        goes_on="The list goes on.",
        failed="The search failed: {reason}",
        no_tool="No search tool is at hand for this question.",
        understood="understood: {parts}",
        verbs={
            "count": "count documents",
            "list": "list documents",
            "similar": "find similar passages",
            "search": "search for {query!r}",
            "by": "by {field}",
            "since": "since {day}",
            "until": "until {day}",
            "span": "{start} to {end}",
        },
        fields={},
        uncounted="documents are counted by their properties, not by what they say: passages are shown instead",
    ),
    "de": Phrases(
        absent="Nicht in deinen Dokumenten.",
        unsure="Keine Stelle deiner Dokumente sagt das sicher.",
        undated="Nichts mit Datum {days} beantwortet das. Ohne das Datum:",
        nearest="Am nächsten kommen:",
        weak="Keine Stelle sagt es mit diesen Worten. Dem Sinn nach am nächsten:",
        documents="{total} Dokumente",
        some="{shown} von {total} Dokumenten",
        one_document="1 Dokument",
        goes_on="Die Liste geht weiter.",
        failed="Die Suche ist fehlgeschlagen: {reason}",
        no_tool="Für diese Frage ist kein Suchwerkzeug da.",
        understood="verstanden: {parts}",
        verbs={
            "count": "Dokumente zählen",
            "list": "Dokumente auflisten",
            "similar": "ähnliche Stellen finden",
            "search": "nach „{query}“ suchen",
            "by": "nach {field}",
            "since": "seit {day}",
            "until": "bis {day}",
            "span": "{start} bis {end}",
        },
        fields={
            "category": "Kategorie",
            "tags": "Schlagwort",
            "tag": "Schlagwort",
            "format": "Format",
            "author": "Autor",
            "language": "Sprache",
            "metadata": "Metadaten",
            "modified": "geändert",
            "created": "erstellt",
            "year": "Jahr",
            "month": "Monat",
        },
        uncounted="Dokumente werden nach ihren Eigenschaften gezählt, nicht nach ihrem Inhalt: stattdessen stehen hier Stellen",
        quotes=("„", "“"),
        both=" und ",
    ),
    "fr": Phrases(
        absent="Absent de vos documents.",
        unsure="Rien dans vos documents ne le dit avec certitude.",
        undated="Rien de daté {days} n’y répond. Sans la date :",
        nearest="Le plus proche :",
        weak="Aucun passage ne le dit en ces termes. Le plus proche par le sens :",
        documents="{total} documents",
        some="{shown} sur {total} documents",
        one_document="1 document",
        goes_on="La liste continue.",
        failed="La recherche a échoué : {reason}",
        no_tool="Aucun outil de recherche ne convient à cette question.",
        understood="compris : {parts}",
        verbs={
            "count": "compter les documents",
            "list": "lister les documents",
            "similar": "trouver des passages semblables",
            "search": "chercher « {query} »",
            "by": "par {field}",
            "since": "depuis {day}",
            "until": "jusqu’au {day}",
            "span": "{start} à {end}",
        },
        fields={
            "category": "catégorie",
            "tags": "étiquette",
            "tag": "étiquette",
            "format": "format",
            "author": "auteur",
            "language": "langue",
            "metadata": "métadonnées",
            "modified": "modifié",
            "created": "créé",
            "year": "année",
            "month": "mois",
        },
        uncounted="les documents se comptent par leurs propriétés, non par leur contenu : voici plutôt des passages",
        quotes=("« ", " »"),
        both=" et ",
    ),
    "es": Phrases(
        absent="No está en tus documentos.",
        unsure="Nada en tus documentos lo dice con certeza.",
        undated="Nada con fecha {days} lo responde. Sin la fecha:",
        nearest="Lo más cercano:",
        weak="Ningún pasaje lo dice con estas palabras. Lo más cercano en sentido:",
        documents="{total} documentos",
        some="{shown} de {total} documentos",
        one_document="1 documento",
        goes_on="La lista continúa.",
        failed="La búsqueda falló: {reason}",
        no_tool="No hay ninguna herramienta de búsqueda para esta pregunta.",
        understood="entendido: {parts}",
        verbs={
            "count": "contar documentos",
            "list": "listar documentos",
            "similar": "buscar pasajes parecidos",
            "search": "buscar «{query}»",
            "by": "por {field}",
            "since": "desde {day}",
            "until": "hasta {day}",
            "span": "{start} a {end}",
        },
        fields={
            "category": "categoría",
            "tags": "etiqueta",
            "tag": "etiqueta",
            "format": "formato",
            "author": "autor",
            "language": "idioma",
            "metadata": "metadatos",
            "modified": "modificado",
            "created": "creado",
            "year": "año",
            "month": "mes",
        },
        uncounted="los documentos se cuentan por sus propiedades, no por lo que dicen: se muestran pasajes",
        quotes=("«", "»"),
        both=" y ",
    ),
    "ja": Phrases(
        absent="文書の中にありません。",
        unsure="文書の中に、確かにそう述べた箇所はありません。",
        undated="{days} の日付の文書に答えはありません。日付を除くと：",
        nearest="最も近いもの：",
        weak="同じ言葉で述べた箇所はありません。意味が最も近いもの：",
        documents="{total}件の文書",
        some="{total}件の文書のうち{shown}件",
        one_document="1件の文書",
        goes_on="一覧は続きます。",
        failed="検索に失敗しました：{reason}",
        no_tool="この質問に使える検索ツールがありません。",
        understood="理解した内容：{parts}",
        verbs={
            "count": "文書を数える",
            "list": "文書を一覧する",
            "similar": "似た箇所を探す",
            "search": "「{query}」を検索",
            "by": "{field}別",
            "since": "{day}以降",
            "until": "{day}まで",
            "span": "{start}～{end}",
        },
        fields={
            "category": "カテゴリ",
            "tags": "タグ",
            "tag": "タグ",
            "format": "形式",
            "author": "著者",
            "language": "言語",
            "metadata": "メタデータ",
            "modified": "更新日",
            "created": "作成日",
            "year": "年",
            "month": "月",
        },
        uncounted="文書は内容ではなく属性で数えます。代わりに該当箇所を示します",
        quotes=("「", "」"),
        both="と",
        comma="、",
        brackets="（{}）",
        stop="。",
        colon="：",
        own_reasons=False,
    ),
    "zh": Phrases(
        absent="您的文档中没有。",
        unsure="您的文档中没有明确的说明。",
        undated="日期为 {days} 的文档没有回答。不限日期：",
        nearest="最接近的：",
        weak="没有段落用同样的词说明。意思最接近的：",
        documents="{total}个文档",
        some="{total}个文档中的{shown}个",
        one_document="1个文档",
        goes_on="列表未完。",
        failed="搜索失败：{reason}",
        no_tool="没有适用于这个问题的搜索工具。",
        understood="理解为：{parts}",
        verbs={
            "count": "统计文档",
            "list": "列出文档",
            "similar": "查找相似段落",
            "search": "搜索“{query}”",
            "by": "按{field}",
            "since": "{day}起",
            "until": "至{day}",
            "span": "{start}至{end}",
        },
        fields={
            "category": "类别",
            "tags": "标签",
            "tag": "标签",
            "format": "格式",
            "author": "作者",
            "language": "语言",
            "metadata": "元数据",
            "modified": "修改日期",
            "created": "创建日期",
            "year": "年",
            "month": "月",
        },
        uncounted="文档按属性统计，不按内容统计：改为显示相关段落",
        both="和",
        comma="，",
        brackets="（{}）",
        stop="。",
        colon="：",
        own_reasons=False,
    ),
}


def phrases(language: str) -> Phrases:
    """The sentences of a language, English ones where there are none."""
    return _PHRASES.get(language, _PHRASES["en"])


# How an answer begins that is none: first that nothing is there, then that nothing says it for certain.
ABSENT = (*(one.absent for one in _PHRASES.values()), *(one.unsure for one in _PHRASES.values()))
