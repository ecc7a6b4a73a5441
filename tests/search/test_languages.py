"""Languages of texts, and the words that a query can lose."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.languages import STOPWORDS, detect, query_stopwords

TEXTS = {
    "en": "The gateway was not able to reach the service, so we have added a retry and told the people who were on call about it.",
    "de": "Das Gateway konnte den Dienst nicht erreichen, deshalb haben wir eine Wiederholung eingebaut und "
    "es denen gesagt, die im Bereitschaftsdienst waren.",
    "fr": "La passerelle n'a pas pu joindre le service, c'est pourquoi nous avons ajouté une nouvelle "
    "tentative et prévenu les personnes qui étaient d'astreinte.",
    "es": "La pasarela no pudo llegar al servicio, por lo que hemos añadido un reintento y avisado a las "
    "personas que estaban de guardia en ese momento.",
    "it": "Il gateway non ha potuto raggiungere il servizio, per questo abbiamo aggiunto un nuovo tentativo "
    "e avvisato le persone che erano di turno.",
    "pt": "O gateway não conseguiu chegar ao serviço, por isso foi adicionada uma nova tentativa e as "
    "pessoas que estavam de plantão foram avisadas.",
    "nl": "De gateway kon de dienst niet bereiken, daarom hebben we een nieuwe poging toegevoegd en het aan "
    "de mensen verteld die dienst hadden.",
    "sv": "Gatewayen kunde inte nå tjänsten, så vi har lagt till ett nytt försök och berättat om det för "
    "dem som hade jour den natten.",
    "da": "Gatewayen kunne ikke nå tjenesten, så vi har tilføjet et nyt forsøg og fortalt det til dem, der "
    "havde vagt den nat. Hvad gør man, hvis noget går galt efter det? Man ringer til nogen af os.",
    "no": "Gatewayen kunne ikke nå tjenesten, så vi har lagt til et nytt forsøk og fortalt det til dem som "
    "hadde vakt den natten. Hva gjør man hvis noe går galt etter det? Man ringer til noen av oss, "
    "ikke bare meg.",
    "fi": "Yhdyskäytävä ei voinut tavoittaa palvelua, joten olemme lisänneet uuden yrityksen, ja se on "
    "kerrottu niille, jotka olivat päivystämässä, mutta he eivät ole vielä vastanneet, koska yö oli "
    "jo ohi.",
    "pl": "Brama nie mogła dotrzeć do usługi, więc dodaliśmy nową próbę i powiedzieliśmy o tym osobom, "
    "które były na dyżurze, ale to nie jest jeszcze wszystko, co się stało.",
    "cs": "Brána se nemohla dostat ke službě, a proto jsme přidali nový pokus a řekli to lidem, kteří byli "
    "ve službě, ale to ještě není všechno, co se stalo.",
    "tr": "Ağ geçidi hizmete ulaşamadı, bu yüzden yeni bir deneme ekledik ve bunu o gece nöbetçi olan "
    "kişilere söyledik, ama bu daha çok şey için gerekli değil.",
    "ru": "Шлюз не смог связаться со службой, поэтому мы добавили новую попытку и рассказали об этом тем, кто был на дежурстве.",
    "uk": "Шлюз не зміг зв'язатися зі службою, тому ми додали нову спробу і розповіли про це тим, хто був на чергуванні.",
    "bg": "Шлюзът не можа да се свърже със службата, затова добавихме нов опит и казахме за това на хората, които бяха дежурни.",
    "el": "Η πύλη δεν μπόρεσε να φτάσει στην υπηρεσία, γι' αυτό προσθέσαμε μια νέα προσπάθεια.",
    "he": "השער לא הצליח להגיע לשירות, ולכן הוספנו ניסיון חדש וסיפרנו על כך לאנשים שהיו בתורנות.",
    "ar": "لم تتمكن البوابة من الوصول إلى الخدمة، لذلك أضفنا محاولة جديدة وأخبرنا الأشخاص الذين كانوا في المناوبة.",
    "fa": "دروازه نتوانست به سرویس برسد، پس یک تلاش دیگر افزودیم و به کسانی که کشیک بودند گزارش دادیم.",
    "hi": "गेटवे सेवा तक नहीं पहुँच सका, इसलिए हमने एक नया प्रयास जोड़ा और उन लोगों को बताया जो ड्यूटी पर थे।",
    "th": "เกตเวย์ไม่สามารถเข้าถึงบริการได้ เราจึงเพิ่มการลองใหม่",
    "zh": "网关无法访问该服务,因此我们添加了重试,并通知了值班人员。",
    "ja": "ゲートウェイがサービスに接続できなかったため、再試行を追加しました。",
    "ko": "게이트웨이가 서비스에 연결할 수 없어서 재시도를 추가했습니다.",
}


@pytest.mark.parametrize("code", TEXTS)
def test_a_sentence_or_two_are_enough_to_tell_the_language(code: str) -> None:
    assert detect(TEXTS[code]) == code


@pytest.mark.parametrize(
    "text",
    [
        *("", "   \n", "Gateway timeout", "2026-09-12 504 1234", "OK", "日本", "Kubernetes Postgres Redis Kafka Nginx " * 20),
        "name;owner;queries\ngateway;ops;12\ntracker;ops;7\n" * 20,
        "| endpoint | owner | queries |\n| --- | --- | --- |\n| /v1/orders | the team | 12 |\n" * 20,
        "for i in range(10):\n    if i is not None and i in seen or not all(x):\n        return a[i] = f(b, c)\n" * 20,
        "SELECT a.id, b.name FROM a JOIN b ON (a.id = b.id) WHERE a.x IS NOT NULL AND b.y IN (1, 2);\n" * 20,
        # English and German in equal parts; languages that are not known.
        TEXTS["en"] + " " + TEXTS["de"],
        "Rerum novarum semel excitata cupidine, quae diu quidem commovet civitates, illud erat consecuturum ut ad regna.",
        "Az átjáró nem tudta elérni a szolgáltatást, ezért van egy új próbálkozás, és szóltunk azoknak, akik ügyeletben voltak.",
        "Gerbang tidak dapat mencapai layanan, jadi kami menambahkan percobaan dan memberi tahu orang yang sedang bertugas.",
        "Пролаз није могао да дође до сервиса, па смо додали нови покушај и рекли људима који су били дежурни.",
    ],
)
def test_short_mixed_tabular_and_unknown_texts_have_no_language(text: str) -> None:
    assert detect(text) is None


def test_markdown_with_code_has_the_language_of_its_prose() -> None:
    code = "```python\nresult = [f(x) for x in values if x['key'] is not None]\n```\n"
    assert detect(f"# Notiz\n\n{TEXTS['de']}\n\n{code}\n{TEXTS['de']}\n\n{code}") == "de"


def test_latin_names_do_not_hide_chinese_japanese_or_korean() -> None:
    assert detect("Python(派森)语言是一种功能强大而完善的通用型计算机程序设计语言,GitHub 和 Linux 上很常见。") == "zh"
    assert detect("Kubernetes の Pod を再起動するには kubectl を使います。") == "ja"
    assert detect("Kubernetes Pod를 다시 시작하려면 kubectl 명령을 사용하세요.") == "ko"


def test_only_the_beginning_of_a_text_is_looked_at() -> None:
    assert detect((TEXTS["de"] + "\n") * 60 + (TEXTS["en"] + "\n") * 600) == "de"


@given(st.text())
def test_any_text_has_a_known_code_or_none(text: str) -> None:
    code = detect(text)
    assert code is None or (len(code) == 2 and code.isascii() and code.islower())


def test_source_code_is_never_taken_for_another_language() -> None:
    modules = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    found = {path.name: detect(path.read_text("utf-8")) for path in modules}
    assert len(found) > 100
    assert set(found.values()) <= {None, "en"}  # "en": modules that open with pages of documentation
    assert list(found.values()).count(None) >= 0.85 * len(found)


@pytest.mark.parametrize(
    ("query", "dropped", "kept"),
    [
        ("what is the timeout of the gateway", "what is the of", "timeout gateway"),
        ("how do I find out why it's slow, please?", "how do i why it's please", "find slow"),
        ("show me the runbooks that changed last month", "me the that", "show runbooks changed last month"),
        ("which pods don't restart and who'll fix them", "which don't who'll and them", "pods restart fix"),
        ("why do worker threads die", "why do", "worker threads die"),
        ("man in the middle", "in the", "man middle"),
        ("may 2025 figures", "", "may figures"),
        ("die hard", "", "die hard"),
        ("wie kann ich das Gateway neu starten", "wie kann ich das", "gateway neu starten"),
        ("was ist die Ursache des Ausfalls", "was ist die des", "ursache ausfalls"),
        ("comment redémarrer la passerelle et le service", "comment la et le", "redémarrer passerelle service"),
        ("cómo se reinicia el servicio de correo", "cómo se el de", "reinicia servicio correo"),
        ("как перезапустить шлюз и почему он не отвечает", "как и почему он не", "перезапустить шлюз отвечает"),
    ],
)
def test_a_query_loses_the_function_words_of_its_own_language(query: str, dropped: str, kept: str) -> None:
    stop_words = query_stopwords(query)
    assert set(dropped.split()) <= stop_words
    assert not set(kept.split()) & stop_words


@given(st.text())
def test_english_function_words_are_always_dropped(query: str) -> None:
    assert STOPWORDS["en"] <= query_stopwords(query)


def test_stop_words_are_lower_case_words_without_doubles_of_content() -> None:
    for words in STOPWORDS.values():
        assert all(word == word.lower() and word.replace("'", "").isalpha() for word in words)
    content = "find show list search error file time work need use get make new old first last day week month year server may us"
    assert not set(content.split()) & STOPWORDS["en"] - {"us"}


@pytest.mark.evals
@pytest.mark.parametrize(
    ("name", "encoding", "code"),
    [
        ("cn_sample-arabic", "utf-8", "ar"),
        ("cn_sample-chinese", "big5", "zh"),
        ("cn_sample-french-1", "cp1252", "fr"),
        ("cn_sample-greek-2", "cp1253", "el"),
        ("cn_sample-hebrew-2", "cp1255", "he"),
        ("cn_sample-korean", "cp949", "ko"),
        ("cn_sample-russian", "mac_cyrillic", "ru"),
        ("cn_sample-russian-2", "utf-8", "ru"),
        ("cn_sample-turkish", "cp1254", "tr"),
        ("cjk_shift_jis", "shift_jis", "ja"),
        ("cjk_gb2312", "gb2312", "zh"),
        ("cjk_euc_kr", "euc_kr", "ko"),
    ],
)
def test_real_texts_are_recognized(evals: Path, name: str, encoding: str, code: str) -> None:
    assert detect((evals / "documents" / "text" / f"{name}.txt").read_bytes().decode(encoding, "replace")) == code


@pytest.mark.evals
@pytest.mark.parametrize("code", ["en", "zh", "th"])
def test_real_paragraphs_are_recognized_or_left_unsure(evals: Path, code: str) -> None:
    with (evals / "retrieval" / "xquad" / code / "corpus.jsonl").open(encoding="utf-8") as lines:
        found = [detect(json.loads(line)["text"]) for line in lines]
    assert set(found) <= {code, None}
    assert found.count(code) >= 0.95 * len(found)
