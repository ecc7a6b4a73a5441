"""HTML and XML: the main text, readable, with nothing in it that a browser would not show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.errors import ReadError
from search.models import Extract
from search.readers import read


def html(source: str) -> Extract:
    return read(Path("page.html"), source.encode())


PAGE = """<!DOCTYPE html><html lang="de-DE"><head><title>The  title</title>
<meta name="author" content="Ada"><meta name="keywords" content="a, b c">
<meta name="description" content="About it"><meta property="article:published_time" content="2026-09-12T10:00:00Z">
<meta property="article:modified_time" content="2026-10-01"></head>
<body><header><a href="/">Home</a></header><nav>Menu</nav>
<main><article><header><h1>Heading</h1></header>
<p>First   <b>para</b>graph,<br>second line.</p>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul><ol><li>first</li><li>second</li></ol>
<pre>def f():
    return  1</pre>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2 <i>x</i></td></tr></table>
<aside>A remark.</aside></article></main><aside>Ads</aside><footer>Imprint</footer></body></html>"""


def test_a_page_becomes_readable_text_with_exact_blocks() -> None:
    extract = html(PAGE)
    assert extract.text == (
        "Heading\n\nFirst paragraph,\nsecond line.\n\n- one\n  - inner\n- two\n\n1. first\n2. second\n\n"
        "def f():\n    return  1\n\na | b\n1 | 2 x\n\nA remark."
    )
    assert [(block.kind, block.level, block.text, extract.text[block.start : block.end]) for block in extract.blocks] == [
        ("heading", 1, "Heading", "Heading"),
        ("list", 0, "", "- one\n  - inner\n- two"),
        ("list", 0, "", "1. first\n2. second"),
        ("code", 0, "", "def f():\n    return  1"),
        ("table", 0, "", "a | b\n1 | 2 x"),
    ]


def test_the_head_gives_properties() -> None:
    extract = html(PAGE)
    assert (extract.title, extract.author, extract.language, extract.tags) == ("The title", "Ada", "de", ("a", "b c"))
    assert (extract.created, extract.modified, dict(extract.metadata)) == (
        "2026-09-12",
        "2026-10-01",
        {"description": "About it"},
    )


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>secret</p>",
        '<p style="display:none">secret</p>',
        '<div style="color:red; visibility : hidden"><p>secret</p></div>',
        '<span style="font-size:0px">secret</span>',
        '<span style="opacity:0">secret</span>',
        '<span style="opacity: 0.0;">secret</span>',
        '<span style="color:#FFF;background-color: white">secret</span>',
        '<span style="position:absolute;left:-9999px">secret</span>',
        '<div style="height:0;overflow:hidden">secret</div>',
        '<div style="overflow-y: clip; max-height: 0px">secret</div>',
        '<div style="transform: translate(1px) scale(0)">secret</div>',
        '<div style="transform:scale(1, 0.0)">secret</div>',
        '<div style="scale: 0">secret</div>',
        '<div style="display/* no */:/**/none">secret</div>',
        '<div style="d\\69splay: n\\00006fne">secret</div>',
        "<!-- secret -->",
        "<script>secret</script>",
        "<style>secret{}</style>",
        "<noscript>secret</noscript>",
        "<template><p>secret</p></template>",
        "<svg><text>secret</text></svg>",
        '<input type="hidden" value="secret">',
        "<textarea>secret</textarea>",
        '<img alt="" src="data:image/png;base64,secretsecret">',
        '<p title="secret"></p>',
    ],
)
def test_hidden_text_is_dropped(hidden: str) -> None:
    assert html(f"<p>Shown.</p>{hidden}<p>Also shown.</p>").text == "Shown.\n\nAlso shown."


@pytest.mark.parametrize(
    "attributes",
    [
        *('style="font-size:0.9em"', 'style="opacity:0.5"', 'aria-hidden="true"', 'class="hidden"'),
        *('style="min-width:0;overflow:hidden"', 'style="height:0.5em;overflow:hidden"', 'style="transform:scale(0.5)"'),
        *('style="/* display:none */"', 'style="height:0"', 'style="transform:scale3d(1,1,0)"'),
    ],
)
def test_shown_text_is_kept(attributes: str) -> None:
    assert html(f"<p {attributes}>Shown.</p>").text == "Shown."


def test_embedded_data_in_text_is_dropped() -> None:
    assert html(f"<p>Shown data:image/png;base64,{'iVBORw0K' * 40} end</p>").text == "Shown end"


def test_most_of_a_page_is_never_dropped_as_boilerplate() -> None:
    body = "<p>" + "A long text of many words. " * 20 + "</p>"
    assert "A long text" in html(f"<aside>{body}</aside><article><p>Teaser.</p></article>").text
    assert "A long text" in html(f"<nav><a href='/'>Menu</a></nav><main><p>Teaser.</p></main><div>{body}</div>").text


def test_menus_go_and_the_text_stays_on_a_page_without_main() -> None:
    extract = html("<nav>Menu</nav><header><a href='/'>Home</a></header><a href='#c'>Skip to content</a><p>Text.</p>")
    assert extract.text == "Text."


def test_tables_that_arrange_the_page_are_read_as_paragraphs() -> None:
    extract = html("<table><tr><td><table><tr><td>left</td></tr></table></td><td><h2>Right</h2>text</td></tr></table>")
    assert extract.text == "left\n\nRight\n\ntext"
    assert [block.kind for block in extract.blocks] == ["heading"]


def test_a_list_item_without_a_list_and_a_heading_in_a_list_are_read() -> None:
    assert html("<li>one<li>two").text == "- one\n\n- two"
    assert html("<ul><li><h3>Head</h3>text</li></ul>").text == "Head\n\n- text"


@pytest.mark.parametrize(
    "source",
    [
        '<meta charset="shift_jis"><p>障害</p>',
        '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>障害</p>',
    ],
)
def test_the_declared_encoding_is_honoured(source: str) -> None:
    extract = read(Path("page.html"), source.encode("cp932"))
    assert (extract.text, extract.encoding, extract.notes) == ("障害", "shift_jis", ("decoded as shift_jis",))


def test_a_page_that_shows_nothing_says_so() -> None:
    assert html("<title>T</title><script>x</script>").no_text == "empty: no visible text"


def test_deep_nesting_is_read_and_absurd_nesting_refused() -> None:
    assert html("<div>" * 2000 + "deep").text == "deep"
    with pytest.raises(ReadError, match="nested 100000 elements deep: at most 4000 are read"):
        html("<div>" * 100_000 + "deep")


TOKENS = re.findall(
    r"\S+", "<p> </p> <li> <ul> </ul> <table> </table> <td> <tr> <pre> </pre> <br> <b> </a> <h1> </h1> <!-- --> < &amp; word"
)


@given(st.lists(st.sampled_from([*TOKENS, " ", "\n"]), min_size=1, max_size=40).map("".join))
def test_any_markup_is_read_and_blocks_are_in_order(source: str) -> None:
    extract = html(source)
    position = 0
    for block in extract.blocks:
        assert position <= block.start < block.end <= len(extract.text)
        position = block.end


def test_xml_gives_its_text_a_line_for_each_element() -> None:
    extract = read(
        Path("a.xml"),
        b'<?xml version="1.0"?><r xml:lang="en-GB"><title>T</title><b>x &amp; y</b><c/><!-- no --><d><![CDATA[<z>]]></d></r>',
    )
    assert extract.text == "T\nx & y\n<z>"
    assert (extract.format, extract.title, extract.language) == ("xml", "T", "en")


def test_xml_without_text_content_is_kept_as_it_is_written() -> None:
    assert read(Path("a.xml"), b'<config><item name="port" value="8080"/></config>').text.startswith('<config><item name="port"')


def test_entities_of_xml_are_not_expanded() -> None:
    levels = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    extract = read(Path("a.xml"), f'<!DOCTYPE r [<!ENTITY e0 "bomb">{levels}]><r><a>shown</a>&e9;</r>'.encode())
    assert extract.text == "shown"
    assert extract.notes == ("entities declared in the document are not expanded",)


def test_an_external_entity_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    extract = read(Path("a.xml"), f'<!DOCTYPE r [<!ENTITY e SYSTEM "{secret.as_uri()}">]><r><a>shown</a>&e;</r>'.encode())
    assert extract.text == "shown"


def test_broken_xml_is_an_error_with_a_reason() -> None:
    with pytest.raises(ReadError, match="broken XML: mismatched tag"):
        read(Path("a.xml"), b"<a><b></a>")
