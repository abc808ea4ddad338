"""Prompts: versioned files that render whole or not at all, in a sandbox."""

import json
from pathlib import Path

import pytest

from gaby.llm.prompts import Prompt, PromptBroken, load_prompt

pytestmark = pytest.mark.promise("G2")


def prompt(system: str, message: str = "?", head: str = "{# version: 1 #}") -> Prompt:
    blocks = f"{{% block system %}}{system}{{% endblock %}}{{% block message %}}{message}{{% endblock %}}"
    return Prompt("test", head + blocks)


def test_blocks_are_rendered_apart() -> None:
    source = (
        "{# version: 12 #}\n{% block system %}\nBe {{ how }}.\n{% endblock %}\n{% block envelope %}\n"
        "{% for page in pages %}\n- {{ page }}\n{% endfor %}\n{% endblock %}\n"
        "{% block message %}\n{{ q }}\n{% endblock %}"
    )
    made = Prompt("test", source)
    rendered = made.render({"how": "kind", "pages": ["a", "b"], "q": "Why?"}, inside={"how": "kind"})
    assert (rendered.system, rendered.envelope, rendered.message) == ("Be kind.", "- a\n- b", "Why?")
    assert made.id.version == 12
    assert made.id.hash == Prompt("other", source).id.hash != prompt("x").id.hash


@pytest.mark.parametrize("system", ["{{ missing }}", "{{ case.missing }}", "{% for x in missing %}{% endfor %}"])
def test_a_value_that_nobody_gave_is_an_error(system: str) -> None:
    with pytest.raises(PromptBroken, match="missing"):
        prompt(system).render({"case": {}}, inside={"case": {}})


@pytest.mark.parametrize(
    "system",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ [].append(1) }}",
        "{{ case.update({'a': 1}) }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ 1 / 0 }}",
        "{{ case | nosuchfilter }}",
        "{% if %}",
    ],
)
def test_a_prompt_cannot_reach_out_of_its_sandbox(system: str) -> None:
    with pytest.raises(PromptBroken):
        prompt(system).render({"case": {}}, inside={"case": {}})


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("{% block system %}{% endblock %}", "version"),
        ("{# version: x #}", "version"),
        ("{# version: 1 #}", "system"),
        ("{# version: 1 #}{% block system %}{% endblock %}", "message"),
        ("{# version: 1 #}{% block system %}{% block message %}{% block more %}" + "{% endblock %}" * 3, "more"),
        ("{# version: 1 #}{% block system %}", "valid"),
    ],
)
def test_a_malformed_prompt_says_what_is_wrong(source: str, wrong: str) -> None:
    with pytest.raises(PromptBroken, match=wrong):
        Prompt("test", source)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(PromptBroken, match="cannot be read"):
        load_prompt(tmp_path / "none.md.j2")
    (tmp_path / "bad.md.j2").write_bytes(b"\xff\xfe")
    with pytest.raises(PromptBroken, match="cannot be read"):
        load_prompt(tmp_path / "bad.md.j2")


def test_values_with_braces_are_not_templates() -> None:
    rendered = prompt("x", "{{ q }}").render({"q": json.dumps({"a": "{{ secret }}{% raw %}"})}, inside={})
    assert rendered.message == '{"a": "{{ secret }}{% raw %}"}'
