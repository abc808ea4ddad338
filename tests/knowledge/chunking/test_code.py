"""Code is cut between functions and never inside one."""

import ast
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.chunking.sizes import SOFT_MAXIMUM
from gaby.knowledge.documents import DocumentText
from gaby.llm.tokens import estimate
from tests.knowledge.chunking.laws import in_one_passage, lawful

pytestmark = pytest.mark.promise("K2")

NAMES = st.sampled_from(["settle", "größe", "close_all", "x"])
LENGTHS = st.sampled_from([1, 3, 12, 60, 200])


def indented(code: str) -> str:
    return "".join("    " + line if line.strip() else line for line in code.splitlines(keepends=True))


def function(name: str, lines: int, above: str) -> str:
    return f"{above}def {name}(a, b=1):\n    '''Says: # def no():'''\n" + "    a = call(a, b)\n\n" * lines


FUNCTIONS = st.builds(function, NAMES, LENGTHS, st.sampled_from(["", "# why\n", "@cached\n@other(1)\n", "# a\n@b\n"]))
STATEMENTS = st.sampled_from(
    [
        "import os\n",
        "X = 1; Y = 2\n",
        "\n\n",
        "# alone\n\n",
        "T = [\n" + "    'word',\n" * 500 + "]\n",
        "'''\ndef no():\n'''\n",
    ]
)
BODIES = st.lists(FUNCTIONS | STATEMENTS, min_size=1, max_size=4).map("".join).map(indented)
CLASSES = BODIES.map("class Ledger:\n    attribute = 1\n{}".format)
BRANCHES = BODIES.map("if x:\n    y = 1\n{}else:\n    pass\n".format)
MODULES = st.lists(FUNCTIONS | STATEMENTS | CLASSES | BRANCHES, max_size=6).map("".join)


@given(MODULES)
def test_no_python_function_is_ever_cut(text: str) -> None:
    passages = lawful(DocumentText("t", text, "python"))
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            assert in_one_passage(passages, starts[first - 1], starts[node.end_lineno or first] - 1)


def braced(head: str, lines: int, above: str) -> str:
    return f"{above}{head} {{\n" + '\tcall("}", 1) // {\n\n' * lines + "}\n"


ABOVE = st.sampled_from(["", "// why\n", "/* why\n   so */\n"])
JS_HEADS = st.sampled_from(["function f(a)", "async function* g()", "export function h()", "export const k = (a) =>"])
JS_METHODS = st.builds(braced, st.sampled_from(["settle(a)", "static größe()", "get x()"]), LENGTHS, ABOVE)
JS_CLASS = st.lists(JS_METHODS, max_size=5).map("".join).map("export class Ledger {{\n{}}}\n".format)
JS = st.lists(st.builds(braced, JS_HEADS, LENGTHS, ABOVE) | JS_CLASS | st.sampled_from(["let a = 1;\n", "// é\n\n"]))
GO_HEADS = st.sampled_from(["func F(a int)", "func (l *Ledger[K]) Settle() error", "func g()"])
GO_OTHERS = st.sampled_from(
    ["var a = 1\n", "type T struct {\n\ta int\n}\n", "// alone\n\n", "const x = `func no() {`\n"]
)
GO = st.lists(st.builds(braced, GO_HEADS, LENGTHS, ABOVE) | GO_OTHERS)


@given(
    kind_and_parts=st.tuples(st.just("javascript"), JS)
    | st.tuples(st.just("typescript"), JS)
    | st.tuples(st.just("go"), GO)
)
def test_no_function_of_javascript_or_go_is_ever_cut(kind_and_parts: tuple[str, list[str]]) -> None:
    kind, parts = kind_and_parts
    text = ("package x\n\n" if kind == "go" else "") + "".join(parts)
    passages = lawful(DocumentText("t", text, kind))
    position = len(text) - len("".join(parts))
    for part in parts:
        if not part.startswith("export class"):
            assert in_one_passage(passages, position, position + len(part.rstrip()))
        position += len(part)
    # A line inside the body of a function is never the first of a passage.
    assert not any(passage.extract(text).startswith("\tcall") for passage in passages)


SAMPLES = {
    "python": (
        "class Ledger:\n    '''Money.'''\n\n",
        "    # Pays.\n    @audited\n    def settle{n}(self):\n{body}\n",
        "",
        "        pay(self)\n",
    ),
    "javascript": ("class Ledger {\n", "  // Pays.\n  settle{n}(a) {\n{body}  }\n", "}\n", "    pay(this);\n"),
    "typescript": (
        "export class Ledger {\n",
        "  /** Pays. */\n  settle{n}(a: number): void {\n{body}  }\n",
        "}\n",
        "    pay(this);\n",
    ),
    "java": (
        "class Ledger {\n",
        "  /** Pays. */\n  @Audited\n  void settle{n}() {\n{body}  }\n",
        "}\n",
        "    pay(this);\n",
    ),
    "csharp": ("class Ledger {\n", "  // Pays.\n  void settle{n}() {\n{body}  }\n", "}\n", "    Pay(this);\n"),
    "cpp": ("class Ledger {\n", "  // Pays.\n  void settle{n}() {\n{body}  }\n", "};\n", "    pay(this);\n"),
    "php": ("<?php\nclass Ledger {\n", "  // Pays.\n  function settle{n}() {\n{body}  }\n", "}\n", "    pay($this);\n"),
    "ruby": ("class Ledger\n", "  # Pays.\n  def settle{n}\n{body}  end\n", "end\n", "    pay(self)\n"),
    "rust": (
        "impl Ledger {\n",
        "  /// Pays.\n  #[audited]\n  fn settle{n}(&self) {\n{body}  }\n",
        "}\n",
        "    pay(self);\n",
    ),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_large_class_is_cut_between_its_methods_which_keep_their_comments(kind: str) -> None:
    head, method, tail, line = SAMPLES[kind]
    methods = [method.replace("{n}", str(number)).replace("{body}", line * 60) for number in range(5)]
    text = head + "".join(methods) + tail
    passages = lawful(DocumentText("t", text, kind))
    names = [passage.headings for passage in passages]
    assert [("Ledger", f"settle{number}") for number in range(1, 5)] == names[-4:]
    assert all("Pays." in passage.extract(text) for passage in passages[-4:])
    assert {passage.extract(text).count("Pays.") for passage in passages[-5:]} == {1}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("go", "package x\n\n" + "// Pays.\nfunc (l *Ledger) settle() {\n" + "\tpay(l)\n" * 40 + "}\n"),
        ("cpp", "void Ledger::settle() {\n" + "  pay(this);\n" * 40 + "}\n"),
    ],
)
def test_a_method_outside_of_its_class_is_called_after_both(kind: str, text: str) -> None:
    assert lawful(DocumentText("t", text, kind))[-1].headings == ("Ledger", "settle")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("bash", "settle() {\n" + "  pay now\n" * 60 + "}\n"),
        ("c", "static int *settle(int a) {\n" + "  pay(a);\n" * 60 + "}\n"),
        ("tsx", "export const settle = () => {\n" + "  pay(<b>now</b>);\n" * 60 + "};\n"),
    ],
)
def test_functions_of_other_languages_have_their_names(kind: str, text: str) -> None:
    assert lawful(DocumentText("t", text, kind))[0].headings == ("settle",)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", "def settle():\n" + "    pay(now, again)\n" * 1000),
        ("javascript", "export const settle = async () => {\n" + "  pay(now, again);\n" * 1000 + "};\n"),
        ("go", "func settle() {\n" + "\tpay(now, again)\n" * 1000 + "}\n"),
    ],
)
def test_a_function_beyond_all_measure_is_still_not_cut(kind: str, text: str) -> None:
    assert [passage.headings for passage in lawful(DocumentText("t", text, kind))] == [("settle",)]


def test_a_small_class_is_one_passage() -> None:
    text = "class Ledger:\n" + "".join(f"    def m{number}(self):\n        return {number}\n\n" for number in range(12))
    assert [passage.headings for passage in lawful(DocumentText("t", text, "python"))] == [("Ledger",)]


def test_small_neighbours_are_together_and_the_module_level_is_gathered() -> None:
    text = "import os\nimport sys\n\nLIMIT = 1\n\n" + "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(8))
    assert len(lawful(DocumentText("t", text, "python"))) == 1


def test_a_table_of_data_is_cut_between_its_lines() -> None:
    text = "CODES = {\n" + "    'E1': 'the disk is full',\n" * 600 + "}\n"
    passages = lawful(DocumentText("t", text, "python"))
    assert all(estimate(passage.extract(text)) <= SOFT_MAXIMUM for passage in passages)
    assert all(passage.extract(text).endswith("\n") for passage in passages)


@pytest.mark.parametrize("kind", ["python", "go", "javascript", "rust"])
def test_code_that_does_not_parse_is_cut_like_plain_text(kind: str) -> None:
    text = ("print 'old' if (\n\n" + "}}} what { is this\n" * 20 + "\n") * 20
    passages = lawful(DocumentText("t", text, kind))
    assert all(estimate(passage.extract(text)) <= SOFT_MAXIMUM for passage in passages)
    assert all(passage.headings == () for passage in passages)


def test_doubtful_escapes_in_a_document_warn_nobody() -> None:
    text = "def f():\n" + r"    return '\d'" + "\n" + "    x = 1\n" * 80
    assert lawful(DocumentText("t", text, "python"))[0].headings == ("f",)


@pytest.mark.parametrize(
    "text",
    [
        "if a:\n    b\n" + "elif c:\n    d\n" * 3000,
        "(" * 5000,
        "-" * 20_000 + "1",
        "x = " + "a." * 20_000 + "b",
        "x\0y",
    ],
    ids=lambda text: text[:8],
)
def test_python_that_is_made_to_hurt_is_cut_too(text: str) -> None:
    lawful(DocumentText("t", text, "python"))


def test_the_cost_of_a_page_of_code_does_not_grow_with_its_depth() -> None:
    text = "x = " + "[" * 3000 + "function () {}" + "]" * 3000 + ";\n"
    passages = lawful(DocumentText("t", text, "javascript"))
    assert in_one_passage(passages, text.index("function"), text.index("}") + 1)
    assert all(first.end == second.start for first, second in pairwise(passages))
