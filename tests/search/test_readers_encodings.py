"""Bytes become the text that their writer meant, and the encoding is said when it is not UTF-8."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.readers.cleaning import clean
from search.readers.encodings import decode


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "können"),
        ("cp1252", "Die Tür ist geschlossen, größer"),
        ("cp1252", "déjà vu à la Forêt"),
        ("cp1252", "¿Qué pasó mañana?"),
        ("cp1252", "Müller, François, José, Søren and Åse"),
        ("cp1252", "20 °C and 5 µm"),
        ("cp1252", "costs 5 € only"),
        ("cp1252", "It’s a “quoted” – text…"),
        ("cp1250", "Zażółć gęślą jaźń"),
        ("cp1250", "Příliš žluťoučký kůň"),
        ("cp1250", "Árvíztűrő tükörfúrógép"),
        ("cp1254", "İstanbul çok güzel, ağaç ışık"),
        ("cp1251", "Привет, мир"),
        ("koi8_r", "Привет, мир"),
        ("cp866", "Привет, мир"),
        ("cp1253", "Καλημέρα κόσμε"),
        ("cp1255", "שלום עולם"),
        ("cp1256", "مرحبا بالعالم"),
        ("cp874", "การแก้ปัญหาเกตเวย์หมดเวลา"),
        ("cp932", "日本語のテキスト"),
        ("cp932", "会議メモ"),
        ("euc_jp", "日本語のテキスト"),
        ("euc_jp", "障害報告書"),
        ("iso2022_jp", "日本語のテキスト"),
        ("gb18030", "网关超时的处理办法"),
        ("gb18030", "你好，世界"),
        ("hz", "网关超时\n"),
        ("big5", "網路閘道逾時處理"),
        ("euc_kr", "게이트웨이 시간 초과"),
        ("iso2022_kr", "게이트웨이 시간 초과"),
        ("mac_roman", "Müller größer"),
        ("cp437", "Müller größer"),
        ("utf-16-le", "Hello world"),
        ("utf-16-be", "Grüße aus Köln"),
        ("utf-16-le", "日本語のテキスト\n次の行 です\n"),
        ("utf-32-be", "Hello"),
        ("utf-16", "with a mark, ünd mehr"),
        ("utf-32", "with a mark, ünd mehr"),
    ],
)
def test_short_texts_in_old_encodings_are_read_right_and_said(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert decoded.text == text
    assert decoded.note == f"decoded as {decoded.encoding}"


@pytest.mark.parametrize("data", [b"plain ASCII\n", "Grüße, 日本語".encode(), b"\xef\xbb\xbf" + "Grüße".encode(), b""])
def test_utf_8_is_not_worth_a_note(data: bytes) -> None:
    decoded = decode(data)
    assert decoded is not None
    assert (decoded.encoding, decoded.note) == ("utf-8", "")
    assert decoded.text == data.removeprefix(b"\xef\xbb\xbf").decode()


def test_the_encoding_has_the_name_that_people_know() -> None:
    names = [decode("日本語の文".encode("cp932")), decode(b"k\xf6nnen"), decode("costs 5 € now".encode("cp1252"))]
    assert [decoded.encoding for decoded in names if decoded] == ["shift_jis", "latin-1", "cp1252"]


def test_a_few_broken_bytes_in_utf_8_are_replaced_and_counted() -> None:
    decoded = decode("Größe und Übergröße für alle, größer".encode() + b"\xff end")
    assert decoded is not None
    assert decoded.text.endswith("größer\ufffd end")
    assert decoded.note == "1 unreadable character replaced"


def test_a_declared_encoding_is_honoured_when_it_decodes() -> None:
    data = "Вася".encode("koi8_r")
    assert getattr(decode(data, declared="koi8-r"), "text", None) == "Вася"
    assert getattr(decode("Grüße".encode(), declared="iso-8859-1"), "text", None) == "Grüße"  # valid UTF-8 tells more
    assert decode(b"caf\xe9", declared="no-such-code") == decode(b"caf\xe9")


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 4,
        b"\x00\x01\x02\x03" * 50,
        random.Random(1).randbytes(4096),
        bytes(1000),
        b"\xff\xfe" + random.Random(2).randbytes(4000),
    ],
)
def test_binary_data_is_no_text(data: bytes) -> None:
    assert decode(data) is None


def test_a_hole_of_nul_bytes_does_not_hide_a_log() -> None:
    decoded = decode(b"08:00 started\n" * 20 + bytes(64) + b"09:00 stopped\n")
    assert decoded is not None
    assert decoded.text.endswith("started\n09:00 stopped\n")
    assert decoded.note == "64 NUL bytes dropped"


def test_one_nul_in_a_table_does_not_make_it_utf_16() -> None:
    text = "name,qty\n" + "".join(f"item{number},{number}\n" for number in range(100))
    decoded = decode(f"{text}bad\0item,5\n".encode())
    assert decoded is not None
    assert (decoded.text, decoded.note) == (f"{text}baditem,5\n", "1 NUL byte dropped")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_stays_utf_16(encoding: str) -> None:
    text = "合約,2024,運輸\n" * 20
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (text, encoding)


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_or_refused_and_never_raise(data: bytes) -> None:
    decoded = decode(data)
    if decoded is not None:
        cleaned = clean(decoded.text)
        assert "\0" not in cleaned
        cleaned.encode("utf-8")


@given(st.text(max_size=200))
def test_text_in_utf_8_comes_back_exactly_unless_it_holds_control_characters(text: str) -> None:
    if text.isprintable() and not text.startswith("\ufeff") and "~{" not in text:
        decoded = decode(text.encode())
        assert decoded is not None
        assert decoded.text == text


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a\x0cb\x0bc\x85d", "a b c d"),
        ("\ufeffa\0b\x07\x9bc", "abc"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"),
        ("a\ud800b", "a\ufffdb"),
        ("shown\U000e0049\U000e0047", "shown"),
        ("a\u2028b\u202ec\u200dd", "a\u2028b\u202ec\u200dd"),
    ],
)
def test_cleaning_drops_what_trips_terminals_and_keeps_the_rest(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@given(st.text(alphabet="ab\n\r\t\x0c\x0b\x85\x1c\u2028\0\x1b[", max_size=60))
def test_cleaning_keeps_the_number_of_lines(text: str) -> None:
    assert clean(text).count("\n") == text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
