"""A page becomes what its visitor sees, as Markdown, and nothing in it is obeyed or fetched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.documents import RawDocument, Unreadable
from gaby.knowledge.parsers import read

pytestmark = pytest.mark.promise("K1")


def seen(page: str) -> str:
    return read(RawDocument("page.html", page.encode())).text


def test_headings_lists_tables_and_code_keep_their_form() -> None:
    page = """<!doctype html><html><body><h1>Reset<a class="headerlink" href="#reset">¶</a></h1>
    <p>Open <a href="https://idp.example/reset">the portal</a>,<br>then <b>wait</b>.</p>
    <ul><li>One<ul><li>Inner</ul><li>Two <code>x=1</code></ul><ol><li>First<li>Second</ol>
    <pre><code class="language-bash"># a comment
echo &lt;ok&gt;</code></pre>
    <table><tr><th>Code<th>Meaning<tr><td>E1<td>a | b<tr><td>E2<td><p>two</p><p>parts</p></table>
    <blockquote>Said.</blockquote></body></html>"""
    assert seen(page) == (
        "# Reset\n\nOpen the portal (https://idp.example/reset),\nthen wait.\n"
        "- One\n   - Inner\n- Two `x=1`\n1. First\n2. Second\n\n"
        "```bash\n# a comment\necho <ok>\n```\n\n"
        "| Code | Meaning |\n| --- | --- |\n| E1 | a \\| b |\n| E2 | two parts |\n\n> Said.\n"
    )


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>if (a < b) document.write('<p>SECRET</p>')</script>",
        "<style>p::after { content: 'SECRET' }</style>",
        "<!-- SECRET <p>SECRET</p> -->",
        "<nav><ul><li>SECRET</ul></nav>",
        "<footer>SECRET</footer>",
        "<div hidden>SECRET<div>SECRET</div></div>",
        "<p hidden>SECRET<br>SECRET",
        "<ul><li hidden>SECRET</ul>",
        "<span style='color:red; DISPLAY : none'>SECRET</span>",
        "<span style='font-size:0px'>SECRET</span>",
        "<span style='opacity: 0.0'>SECRET</span>",
        "<div aria-hidden=true>SECRET</div>",
        "<div role='navigation'>SECRET</div>",
        "<template><p>SECRET</p></template>",
        "<noscript>SECRET</noscript>",
        "<select><option>SECRET<option>SECRET</select>",
        "<textarea>SECRET</textarea>",
        "<dialog>SECRET</dialog>",
        "<svg><title>SECRET</title><text>SECRET</text></svg>",
        "<iframe src='https://evil.example'>SECRET</iframe>",
        "<img src='https://evil.example/SECRET.png'>",
        "<a href='javascript:SECRET'></a>",
    ],
)
def test_what_a_visitor_does_not_see_is_not_read(unseen: str) -> None:
    text = seen(f"<html><body><p>Before.</p>{unseen}<p>Behind.</p></body></html>")
    assert text.split() == ["Before.", "Behind."]


@pytest.mark.parametrize("style", ["opacity: 0.5", "font-size: 0.9em", "display: block"])
def test_what_a_visitor_does_see_is_read(style: str) -> None:
    assert seen(f"<p style='{style}'>Words.</p>") == "Words.\n"


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<head><title>Reset &amp; unlock</title></head><h1>Other</h1>", "Reset & unlock"),
        ("<svg><title>icon</title></svg><h1>Reset</h1>", "Reset"),
        ("<p>words", "page"),
    ],
)
def test_the_title_is_that_of_the_page(page: str, title: str) -> None:
    assert read(RawDocument("page.html", page.encode())).title == title


def test_text_that_looks_like_a_mark_makes_no_heading_and_no_code() -> None:
    assert seen("<p># no heading</p><p>```sh</p><p>a<br>---</p>") == "\\# no heading\n\n\\```sh\n\na\n\\---\n"


def test_code_that_contains_a_fence_gets_a_longer_one() -> None:
    assert seen("<pre>```\nx\n```</pre>") == "````\n```\nx\n```\n````\n"


def test_code_in_a_table_follows_it_and_its_line_numbers_are_left_out() -> None:
    page = "<table><tr><td><pre>1\n2</pre><td><pre>def f():\n    pass</pre></table>"
    assert seen(page) == "```\ndef f():\n    pass\n```\n"


@pytest.mark.parametrize("declared", ["<meta charset='shift_jis'>", "<meta content='text/html; charset=shift_jis'>"])
def test_the_encoding_that_a_page_declares_is_believed(declared: str) -> None:
    assert read(RawDocument("a.html", f"{declared}<p>再設定".encode("shift_jis"))).text == "再設定\n"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "x",
        "<ul><li>" * 100_000 + "x",
        "<table><tr><td>" * 50_000 + "x",
        "<blockquote>" * 100_000 + "x",
        "<p><font id=1><table></font></table>" * 20_000 + "x",
        "<a href=https://x.example/>" * 50_000 + "x" + "</a>" * 50_000,
        "<p>x" + "</div>" * 100_000,
        "<p>x" + "<!--" * 100_000,
        "<p>x" + "<a title='" * 100_001,
        "<p>x" + "<script>" * 100_000,
        "<b><i>" * 50_000 + "x" + "</b></i>" * 50_000,
        "<p>x" + "<" * 1_000,
    ],
    ids=lambda page: page[:20],
)
def test_a_page_that_is_made_to_hurt_is_read_like_any_other(page: str) -> None:
    assert "x" in seen(page)


TAGS = [
    "div",
    "p",
    "ul",
    "li",
    "table",
    "tr",
    "td",
    "pre",
    "code",
    "h1",
    "a",
    "b",
    "script",
    "title",
    "nav",
    "br",
    "svg",
]
BEFORE = ["", "/", "!--", "!"]
BEHIND = ["", " hidden", " href='https://x.example'", ' class="language-go"', " x='", "/", " style=display:none"]
TAG = st.tuples(st.sampled_from(BEFORE), st.sampled_from(TAGS), st.sampled_from(BEHIND)).map("".join).map("<{}>".format)


@given(
    st.lists(
        TAG | st.sampled_from(["words", "&amp;", "&#0;", "&#xd800;", "```", "|", "# x", "\n", "\f", "-->", "\x01"])
    )
)
def test_tags_in_any_order_give_clean_text_and_always_the_same(parts: list[str]) -> None:
    brought = RawDocument("a.html", "".join(parts).encode())
    try:
        text = read(brought)
    except Unreadable:
        return
    assert text == read(brought)
    assert text.text.endswith("\n")
    assert not set(text.text) & {"\0", "\r", "\x01"}


def test_a_visible_word_is_never_lost_to_an_unclosed_tag_before_it() -> None:
    assert "kept" in seen("<div><ul><li><b><table><tr><td>open<div>kept")
