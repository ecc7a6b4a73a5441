"""Words by which people ask for documents, in English, German, French, Spanish, Japanese and Chinese: tables only.

None of them is a name of any library: categories, tags, authors and the like come from its Catalogue. Words are in lower case;
the spaced languages share one table each, because a word that asks for documents in one of them rarely means anything else in
another, and the places where they count are narrow (see `asked`).
"""

from __future__ import annotations

import re


def words_of(text: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(text.split())


# Nouns that mean documents and nothing else: what is asked for, never what is looked for.
GENERIC_KINDS = words_of(
    """document documents doc docs file files page pages report reports note notes paper papers article articles
    dokument dokumente dokumenten datei dateien seite seiten bericht berichte berichten
    notiz notizen artikel unterlagen
    fichier fichiers rapport rapports fiche fiches
    documento documentos archivo archivos fichero ficheros página páginas informe informes nota notas artículo
    artículos"""
)
# Kinds of documents: behind a category they are part of its name ("support macros"), and still worth a look in the text.
SPECIFIC_KINDS = words_of(
    """macro macros letter letters template templates guide guides manual manuals handbook handbooks checklist checklists form
    forms contract contracts agreement agreements memo memos minutes transcript transcripts summary summaries draft drafts slide
    slides spec specs specification specifications example examples sample samples snippet snippets procedure procedures
    instruction instructions ticket tickets postmortem postmortems review reviews story stories post posts brief briefs recipe
    recipes invoice invoices mail mails email emails
    brief briefe vorlage vorlagen anleitung anleitungen handbuch handbücher protokoll protokolle vertrag verträge
    lettre lettres modèle modèles guide manuel manuels contrat contrats carta cartas plantilla plantillas guía guías manual
    manuales contrato contratos"""
)
# With a programming language before them they name its files.
CODE_KINDS = words_of(
    """code source sources file files script scripts module modules program programs query queries snippet snippets test tests
    notebook notebooks quelltext quelltexte quellcode dateien datei skript skripte programm programme
    fichiers fichier scripts programmes archivos ficheros programas"""
)
FILLERS = words_of("source reference raw original plain all quelle")  # between a name and its kind: "Go source files"

DETERMINERS = words_of(
    """the a an all any every each our my your their these those this that some both other
    der die das den dem des ein eine einen alle allen jede jedes unsere unseren meine meinen diese
    le la les un une des tous toutes nos mes el los las unos unas todos todas nuestros nuestras mis"""
)
ASKING = words_of("which what whose welche welcher welches welchen quel quelle quels quelles qué cuál cuáles que")
COUNTING = re.compile(
    r"\b(?:how many|number of|count(?: of)?(?: the| all)?|wie viele|wieviele|anzahl (?:der|von|an)|combien (?:de |d['’])"
    r"|nombre de|cu[aá]nt[oa]s|n[uú]mero de)\s*",
    re.IGNORECASE,
)
# What opens a request; the noun phrase that follows is what is asked for.
OPENING = re.compile(
    r"^(?:please |bitte |hey |so )?(?:"
    r"(?:can|could|would|will) you (?:please )?(?:show|list|find|give|get|tell|search|count)(?: (?:me|us))?(?: for)?"
    r"|what(?:'s|’s| is) new|(?:summari[sz]e|outline|describe|tell (?:me|us) about|what about)"
    r"|(?:show|list|find|give|get|fetch|display|bring|name|enumerate|search|look|looking)(?: (?:me|us|up))?(?: (?:for|in|through))?"
    r"|(?:i|we) (?:need|want|am looking for|are looking for|'m looking for|would like)(?: to (?:see|find|read))?"
    r"|(?:is|are|was|were) there|do (?:we|i|you) have|have (?:we|i|you)(?: got)?"
    r"|(?:zeig|zeige|zeigen sie|liste|finde|suche|such|gib|nenne)(?: (?:mir|uns))?(?: auf)?|gibt es|haben wir"
    r"|(?:montre|montrez|liste|listez|trouve|trouvez|cherche|cherchez|donne|donnez|affiche|affichez)(?:-(?:moi|nous))?"
    r"|y a-t-il|est-ce qu'il y a|avons-nous"
    r"|(?:muestra|muéstrame|lista|encuentra|busca|dame|enséñame|muestre|busque)(?:me)?|hay|tenemos"
    r")(?=\s|$|:)[\s:]*",
    re.IGNORECASE,
)

# After the head of what is asked for: here its description begins.
BOUNDARY = words_of(
    """about on for from in of with without by since before after between during until at to through over within regarding
    concerning that which who whose where when and or are is was were do does did have has had can could should will
    tagged labelled labeled written authored published dated created changed updated modified edited added mentioning containing
    covering describing explaining dealing named titled called using there exist exists older newer
    über von vom aus mit ohne seit vor nach zwischen bis auf zu zum zur bei die der das sind ist wurden wurde gibt es haben hat
    verschlagwortet geschrieben geändert aktualisiert
    sur de du des d pour dans par avec sans depuis avant après entre en qui sont est étiquetés étiqueté écrits rédigés modifiés
    sobre del para por con sin desde antes después entre que son están hay etiquetados escritos modificados"""
)
INSIDE = words_of("in from across among within inside throughout im in aus dans parmi en entre")
SAYING = words_of(
    """say says said tell tells mention mentions state states describe describes cover covers recommend recommends contain contains
    require requires advise advises explain explains report reports suggest suggests
    sagen sagt steht stehen disent dit dicen dice"""
)
DECIDING = SAYING | words_of(
    "decide decides decided discuss discusses discussed agree agrees agreed conclude concludes entschied beschloss"
)
NOT = re.compile(
    r"\b(?:not|n['’]t|no|without|except|excluding|nicht|kein\w*|ohne|außer|pas|sans|sauf|sin|excepto)\s+(?:in\s+)?$", re.IGNORECASE
)
COPULAS = words_of("is are was were be still sind ist waren war sont est étaient son es están eran")
# Verbs that say nothing about what is looked for, once something else in the question does.
EMPTY_VERBS = SAYING | words_of(
    """deal deals dealing talk talks discuss discusses discussed discussing write writes wrote written appear appears appeared
    happen happens happened happening exist exists find found show shown list publish published know known look looking need want
    help refer refers relate relates related concern concerns tell see read get give come came made added created
    changed updated modified edited produce produced author authored available stored saved total altogether overall
    mean means meant meaning took take takes taken place held occur occurs occurred according apply applies
    attend lasting
    a-t-il gibt handeln handelt geschrieben erschienen passiert geändert
    parlent parle traitent traite écrit parus modifiés hablan habla tratan trata escrito escribió"""
)
WRITING = (
    r"(?:write|writes|wrote|written|author|authored|publish|published|schrieb|geschrieben|verfasst|écrit|rédigé|escrito|escribió)"
)
CHANGING = re.compile(
    r"(?:\b(?:last )?(?:changed|updated|modified|edited|revised)\b|\b(?:geändert|aktualisiert|bearbeitet)\w*"
    r"|\b(?:modifiée?s?|mise?s? à jour)|\b(?:modificad|actualizad|cambiad)[oa]s?\b|更新|変更|修改)",
    re.IGNORECASE,
)
CREATING = re.compile(r"\b(?:created|erstellt|angelegt|créée?s?|cread[oa]s?)\b", re.IGNORECASE)
NEWEST = words_of(
    """most latest newest recent neueste neuesten neuester neuestes neuste neusten jüngste jüngsten jüngster jüngstes
    letzte letzten letzter letztes dernier dernière derniers dernières último última últimos últimas"""
)
OLDEST = words_of("oldest earliest älteste ältesten ältester ältestes früheste frühesten frühester frühestes")
LAST = words_of("last top")
NUMERALS = {
    word: value
    for words in (
        "two three four five six seven eight nine ten",
        "zwei drei vier fünf sechs sieben acht neun zehn",
        "deux trois quatre cinq six sept huit neuf dix",
        "dos tres cuatro cinco seis siete ocho nueve diez",
    )
    for value, word in enumerate(words.split(), start=2)
}
TAGGED = re.compile(
    r"\b(?:(?:tagged|labelled|labeled)(?: (?:as|with))?|with (?:the )?(?:tags?|labels?)|(?:tags?|labels?)\s*[:=]"
    r"|(?:mit (?:dem|den) )?(?:tags?|schlagw[oö]rt(?:ern|er)?)\s*:?|getaggt (?:mit|als)"
    r"|(?:étiquetée?s?|avec (?:le|les) (?:tags?|étiquettes?))(?: (?:avec|comme))?"
    r"|(?:etiquetad[oa]s?|con (?:la|las) etiquetas?)(?: (?:con|como))?)\s+(?=\S)",
    re.IGNORECASE,
)
JOINING = words_of("and und et y & + as well")
GROUPING = re.compile(
    r"\b(?:per|by|for each|in each|by each|grouped by|pro|nach|par|por)\s+"
    r"(?P<what>categor(?:y|ies)|format|type|author|language|tag|year|month|kategorie|autor|sprache|jahr|monat|schlagwort"
    r"|catégorie|auteur|langue|année|mois|categoría|formato|idioma|año|mes|etiqueta)\b",
    re.IGNORECASE,
)
GROUPS = {
    "category": "category",
    "categories": "category",
    "kategorie": "category",
    "catégorie": "category",
    "categoría": "category",
    "format": "format",
    "formato": "format",
    "type": "format",
    "author": "author",
    "autor": "author",
    "auteur": "author",
    "language": "language",
    "sprache": "language",
    "langue": "language",
    "idioma": "language",
    "tag": "tag",
    "schlagwort": "tag",
    "etiqueta": "tag",
    "year": "year",
    "jahr": "year",
    "année": "year",
    "año": "year",
    "month": "month",
    "monat": "month",
    "mois": "month",
    "mes": "month",
}
# Words that only name a field, and the filter that they name; the singular and plural of "file" and the like are documents.
FIELD_WORDS = {
    word: field
    for field, words in {
        "category": "category categories kategorie kategorien catégorie catégories categoría categorías categoria categorias",
        "format": "type types filetype filetypes format formats formate formaten typ typen dateityp dateitypen extensions "
        "formato formatos tipo tipos",
        "tags": "tag tags schlagwort schlagwörter schlagwörtern étiquette étiquettes etiqueta etiquetas",
        "language": "language languages sprache sprachen langue langues idioma idiomas",
        "author": "author authors autor autoren autorin autorinnen auteur auteurs autores autora",
    }.items()
    for word in words.split()
}
FIELD_GROUPS = {"category": "category", "format": "format", "tags": "tag", "language": "language", "author": "author"}
# Beside a field's name these say nothing either: "which tags do we use?".
ABOUT_FIELDS = words_of(
    """use used uses using available exist exists existing there different distinct library collection archive occur in my our
    existieren benutzt verwendet verschiedene verschiedenen vorhanden bibliothek vorkommen
    existent existe existen utilisés utilisées disponibles bibliothèque biblioteca usadas usados hay kinds kind"""
)
UNSPACED_FIELDS = {
    **dict.fromkeys(("カテゴリー", "カテゴリ", "分類", "类别", "类目", "分类", "類別"), "category"),
    **dict.fromkeys(("ファイル形式", "形式", "文件格式", "文件类型", "格式", "类型", "フォーマット"), "format"),
    **dict.fromkeys(("タグ", "标签", "標籤"), "tag"),
    **dict.fromkeys(("言語", "语言", "語言"), "language"),
    **dict.fromkeys(("著者", "作者", "筆者"), "author"),
}
SIMILAR = re.compile(
    r"\b(?:similar(?:es)?|like|resembl\w+|ähnlich\w*|semblables?|similaires?|parecid[oa]s?)\b(?:\s+(?:to|zu|wie|à|aux?|a|the"
    r"|this|these|that|following|diese[nrms]?|dieser|cette|cet|ce|este|esta))*\s*(?P<what>[^:\n]{0,60}?)\s*:\s*(?P<text>\S[\s\S]*)$",
    re.IGNORECASE,
)
SIMILAR_UNSPACED = re.compile(r"(?:似た|類似|类似|相似|類似於)[^:：]{0,20}[:：]\s*(?P<text>\S[\s\S]*)$")
SIMILAR_KEY = re.compile(
    r"\b(?:similar to|like|ähnlich wie|similaires? à|similares? a)\s+(?:passage\s+|key\s+)?\[?(?P<key>[a-z2-7]{10})\b"
)
TRACE = re.compile(
    r"Traceback \(most recent call last\)|^\s+at \S+\(|^\s*File \".+\", line \d+|^panic: |^goroutine \d+ \[|^Caused by: "
    r"|^\S*(?:Error|Exception)\b.*\n\s+",
    re.MULTILINE,
)

LANGUAGE_NAMES = {
    name: code
    for code, names in {
        "en": "english englisch englische englischen anglais anglaise anglaises inglés inglesa ingleses inglesas",
        "de": "german deutsch deutsche deutschen deutscher allemand allemande allemands allemandes alemán alemanes",
        "fr": "french französisch französische französischen français française françaises francés franceses",
        "es": "spanish spanisch spanische spanischen espagnol espagnole espagnols español española españoles",
        "it": "italian italienisch italienische italien italienne italiano italianos",
        "pt": "portuguese portugiesisch portugiesische portugais portugués",
        "nl": "dutch niederländisch niederländische néerlandais neerlandés holandés",
        "pl": "polish polnisch polnische polonais polaco",
        "cs": "czech tschechisch tschechische tchèque checo",
        "sv": "swedish schwedisch schwedische suédois sueco",
        "da": "danish dänisch dänische danois danés",
        "no": "norwegian norwegisch norwegische norvégien noruego",
        "fi": "finnish finnisch finnische finnois finlandés",
        "tr": "turkish türkisch türkische turc turco",
        "ru": "russian russisch russische russischen russe ruso",
        "uk": "ukrainian ukrainisch ukrainische ukrainien ucraniano",
        "el": "greek griechisch griechische grec griego",
        "ar": "arabic arabisch arabische arabe árabe",
        "he": "hebrew hebräisch hebräische hébreu hebreo",
        "hi": "hindi",
        "ja": "japanese japanisch japanische japanischen japonais japonaise japonés japonesa japoneses",
        "zh": "chinese chinesisch chinesische chinesischen chinois chinoise chino china chinos",
        "ko": "korean koreanisch koreanische coréen coreano",
        "th": "thai thailändisch thailändische thaï thaïlandais tailandés",
        "vi": "vietnamese vietnamesisch vietnamien vietnamita",
    }.items()
    for name in names.split()
}
UNSPACED_LANGUAGE_NAMES = {
    "日本語": "ja",
    "日文": "ja",
    "日语": "ja",
    "英語": "en",
    "英文": "en",
    "英语": "en",
    "ドイツ語": "de",
    "德语": "de",
    "德文": "de",
    "フランス語": "fr",
    "法语": "fr",
    "法文": "fr",
    "スペイン語": "es",
    "西班牙语": "es",
    "中国語": "zh",
    "中文": "zh",
    "タイ語": "th",
    "泰语": "th",
    "韓国語": "ko",
    "韩语": "ko",
    "ロシア語": "ru",
    "俄语": "ru",
}
UNSPACED_COUNTING = re.compile(
    r"(?:何|いく)(?:件|本|個|つ|通|枚)(?:あります|ある|です)?(?:か|の)?|(?:有)?(?:多少|几)(?:个|篇|份|件)?|件数|数量"
)
UNSPACED_LISTING = re.compile(
    r"(?:すべて|全て|全部)?(?:の)?(?:一覧|リスト)(?:を)?|見せて|表示して|挙げて|ありますか|列出|显示|有哪些|哪些|どの|どれ|所有|すべての|全ての"
)
UNSPACED_KINDS = re.compile(r"(?:文書|書類|資料|ドキュメント|ファイル|ページ|文档|文件|文章|资料|页面)")
UNSPACED_NEWEST = re.compile(r"最新|最近|最も新しい|一番新しい|新しい順")
UNSPACED_OLDEST = re.compile(r"最古|最も古い|一番古い|古い順|最早|最旧|最舊|最老")
UNSPACED_NUMBER = re.compile(
    r"(?P<digits>\d{1,3})\s*(?:件|個|个|本|つ|枚|通|篇|份)|(?P<han>[二两三四五六七八九十])(?:件|個|个|本|つ|枚|通|篇|份)"
)
UNSPACED_NUMERALS = {"两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
UNSPACED_REST = re.compile(r"^[\sのはがをにでとかもへ的了在是吗呢有请把中关于ですますしたくさいだ、。？?！!]*$")

FORMAT_WORDS = {"word": "docx", "excel": "xlsx", "powerpoint": "pptx", "bash": "shell", "golang": "go", "plaintext": "text"}
