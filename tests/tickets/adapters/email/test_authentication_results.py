"""A sender is verified by what the desk's own server wrote, and never by text of the sender's that stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.tickets.adapters.email.authentication_results import parse_authentication_results
from gaby.tickets.adapters.email.header_scan import HeaderSyntaxError
from tests.support.mail_server import ANN
from tests.tickets.adapters.email.mail_messages import OFFLINE, mail_message, understood

pytestmark = pytest.mark.promise("S17")

_FORGED = "dmarc=pass header.from=client.example"
_FAILED = "dmarc=fail header.from=client.example"
_OWN = "mx.acme.example"


def is_verified(*headers: str, sender: str = ANN) -> bool:
    said = "".join(f"Authentication-Results: {header}\r\n" for header in headers).encode()
    incoming_ticket = understood(said + mail_message(sender=sender))
    assert incoming_ticket.verified_by == "mail"
    return incoming_ticket.requester_verified


@pytest.mark.parametrize(
    "header",
    [
        f"{_OWN}; {_FORGED}",
        f"{_OWN} 1; {_FORGED};",
        f"MX.Acme.Example;{_FORGED}",
        f'"{_OWN}"; {_FORGED}',
        f"{_OWN}; dmarc=pass (p=none (really)) header.from=Client.Example",
        f"{_OWN};\r\n\tspf=pass (sender; ok) smtp.mailfrom=ann@client.example;\r\n {_FORGED}",
        f'{_OWN}; dkim=pass header.b="a;b"; spf=pass smtp.mailfrom="a; b"@client.example; {_FORGED}',
        f"{_OWN}; dkim=pass header.i=@client.example header.b=Fq5d/+== header.a=rsa-sha256; {_FORGED}",
        f"{_OWN}; spf=pass smtp.mailfrom=; {_FORGED}",
        f'{_OWN}; dmarc=pass reason="all is well" action=none header.from="client.example"',
        f"{_OWN} (a comment) ; dmarc / 1 = pass header.from = client.example".replace(" / ", "/"),
    ],
)
def test_headers_as_real_servers_write_them_verify(header: str) -> None:
    assert is_verified(header)


@pytest.mark.parametrize(
    "header",
    [
        # Text of the sender's, in every place where servers repeat it.
        f'{_OWN}; spf=fail smtp.mailfrom="x; {_FORGED}"',
        f'{_OWN}; spf=fail smtp.mailfrom="x; {_FORGED}"@evil.example; {_FAILED}',
        f'{_OWN}; spf=fail smtp.mailfrom="a"b; {_FORGED}',
        f'{_OWN}; spf=fail smtp.mailfrom="a\\"; {_FORGED}"',
        f'{_OWN}; spf=fail smtp.mailfrom="a\\\\"; x"; {_FORGED}',
        f"{_OWN}; spf=fail (x (y) ; {_FORGED} ) smtp.mailfrom=a@evil.example",
        f"{_OWN}; spf=fail (x ((y) ; {_FORGED} ) smtp.mailfrom=a@evil.example",
        f"{_OWN}; spf=fail (x \\) ; {_FORGED} ) smtp.mailfrom=a@evil.example",
        f"{_OWN}; spf=fail (x) ) ; {_FORGED}",
        f'{_OWN}; spf=fail reason="; {_FORGED}"',
        f"{_OWN}; spf=fail reason=; {_FAILED}; {_FORGED}",
        f"{_OWN}; spf=fail smtp.helo=x {_FORGED}",
        # Said twice.
        f"{_OWN}; {_FAILED}; {_FORGED}",
        f"{_OWN}; {_FORGED}; {_FAILED}",
        f"{_OWN}; {_FORGED}; {_FORGED}",
        f"{_OWN}; {_FORGED} header.from=evil.example",
        f"{_OWN}; dmarc/1=fail header.from=client.example; {_FORGED}",
        # Something else than a pass of DMARC for this domain.
        f"{_OWN}; none",
        f"{_OWN}; dkim=pass header.d=client.example; spf=pass smtp.mailfrom=client.example",
        f"{_OWN}; dmarc=pass",
        f"{_OWN}; dmarc=pass header.from=evil.example",
        f"{_OWN}; dmarc=pass header.from=sub.client.example",
        f"{_OWN}; dmarc=pass header.from=client.example.evil.example",
        f"{_OWN}; dmarc=pass policy.from=client.example",
        f"{_OWN}; dmarc=passed header.from=client.example",
        f"{_OWN}; dmarc=bestguesspass header.from=client.example",
        f"{_OWN}; x-dmarc=pass header.from=client.example",
        # Another server, or none.
        f"{_OWN}.evil.example; {_FORGED}",
        f"evil.example {_OWN}; {_FORGED}",
        f"({_OWN}) evil.example; {_FORGED}",
        f"evil.{_OWN}; {_FORGED}",
        _FORGED,
        f"; {_FORGED}",
        "",
        # Not by the grammar.
        f"{_OWN} 2; {_FORGED}",
        f"{_OWN}; {_FORGED}; =x",
        f"{_OWN}; {_FORGED}; x",
        f"{_OWN}; {_FORGED} (",
        f'{_OWN}; {_FORGED} "',
        f"{_OWN}; {_FORGED}; spf==pass",
        f"{_OWN}; {_FORGED} header.x=\u00fc",
        f"{_OWN}; {_FORGED} header.x=\x01",
        f"{_OWN}; {_FORGED} header.x=" + "y" * 9000,
        f"{_OWN}; " + "(" * 4000 + ")" * 3999 + _FORGED,
    ],
)
def test_no_spelling_of_a_header_verifies_a_spoofed_sender(header: str) -> None:
    assert not is_verified(header)


def test_only_the_topmost_header_of_the_own_server_counts() -> None:
    passed, failed = f"{_OWN}; {_FORGED}", f"{_OWN}; {_FAILED}"
    assert is_verified(passed, failed)
    assert is_verified("mx.relay.example; dmarc=fail header.from=client.example", passed)
    assert not is_verified(failed, passed)
    assert not is_verified(f"{_OWN}; none", passed)
    assert not is_verified(f"{_OWN}; spf=pass smtp.mailfrom=client.example", passed)
    # A header of the own server that cannot be read is not passed over in favour of one that came with the mail.
    assert not is_verified(f"{_OWN}; (", passed)
    assert not is_verified(f"{_OWN} 9; none", passed)


def test_without_a_named_server_nobody_is_verified() -> None:
    config = OFFLINE.model_copy(update={"authserv_id": ""})
    for header in (f"{_OWN}; {_FORGED}", f"; {_FORGED}", f'""; {_FORGED}'):
        mail = f"Authentication-Results: {header}\r\n".encode() + mail_message()
        assert not understood(mail, config).requester_verified


@pytest.mark.parametrize(
    "sender",
    [
        "Ann <ann@client.example>",
        '"Doe, Ann (she)" <ann@client.example>',
        "ann@client.example (Ann, of the till)",
        "=?utf-8?q?J=C3=B6rg?= <ann@client.example>",
        "J\u00f6rg <ann@client.example>",
    ],
)
def test_one_address_with_a_name_is_verified(sender: str) -> None:
    assert is_verified(f"{_OWN}; {_FORGED}", sender=sender)


@pytest.mark.parametrize(
    "sender",
    [
        "boss@client.example, <ann@client.example>",
        "boss@client.example <ann@client.example>",
        "<boss@client.example> <ann@client.example>",
        "Doe, Ann <ann@client.example>",
        "Team: ann@client.example;",
        "ann@client.example\r\nFrom: boss@client.example",
        '"ann@client.example" <evil@else.example>',
        "(<ann@client.example>) evil@else.example",
        '(") <ann@client.example> (") <evil@else.example>',
        "ann@client.example@else.example",
        "<@else.example:ann@client.example>",
        "ann@client.example (",
        '"ann"@client.example',
        "",
    ],
)
def test_a_from_that_names_several_or_nobody_verifies_nobody(sender: str) -> None:
    assert not is_verified(f"{_OWN}; {_FORGED}", sender=sender)


@given(st.text(alphabet='ab=;.@"()\\ \t1/-', max_size=80))
def test_any_text_is_read_to_its_end_or_refused(text: str) -> None:
    try:
        authentication_results = parse_authentication_results(f"{_OWN}; spf=none smtp.mailfrom=({text}")
    except HeaderSyntaxError:
        return
    # It began inside a comment, so whatever it says about methods needs its own end of the comment first.
    assert authentication_results.authserv_id == _OWN
    assert len(authentication_results.results) == 1 or ")" in text


@given(st.text(alphabet='ab=;.@()\\" dmarcpshe', max_size=60))
def test_nothing_that_is_quoted_properly_becomes_a_result(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    authentication_results = parse_authentication_results(f'{_OWN}; spf=fail smtp.mailfrom="{quoted}"; {_FAILED}')
    assert [each.method for each in authentication_results.results] == ["spf", "dmarc"]
    assert authentication_results.results[0].sole("smtp.mailfrom") == text
    assert authentication_results.dmarc_domain is None
