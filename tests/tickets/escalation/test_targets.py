"""Where escalations go is said in one line, and wrong lines are told what is wrong without showing secrets."""

import pytest
from pydantic import ValidationError

from gaby.kernel.errors import Invalid
from gaby.tickets.escalation import SmtpServer, parse_target

pytestmark = pytest.mark.promise("T7")
SECRET = "a secret of sixteen letters"
SERVER = SmtpServer(host="mail.acme.example", sender="gaby@acme.example")


def test_a_target_is_read_and_its_address_stays_hidden() -> None:
    target = parse_target("slack:https://hooks.slack.example/services/T0/B0/hidden")

    assert (target.kind, "hidden" in repr(target), "hidden" in target.model_dump_json()) == ("slack", False, False)
    assert parse_target("email:a@acme.example,b@acme.example", smtp=SERVER).recipients() == [
        "a@acme.example",
        "b@acme.example",
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("", "slack", "slack:", "pager:https://acme.example", "slack:http://hooks.slack.example/hidden"),
        *(
            "webhook:http://10.0.0.1/hidden",
            "webhook:ftp://acme.example/hidden",
            "webhook:https://u:hidden@acme.example",
        ),
        *("email:hidden", "email:a@acme.example,,b@acme.example", "slack:https:///hidden", "slack:https://[hidden"),
    ],
)
def test_a_wrong_target_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_target(text, secret=SECRET, smtp=SERVER)
    assert "hidden" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_webhook_needs_a_secret_and_mail_a_server() -> None:
    with pytest.raises(Invalid, match="secret"):
        parse_target("webhook:https://acme.example")
    with pytest.raises(Invalid, match="server"):
        parse_target("email:a@acme.example")
    assert parse_target("webhook:http://127.0.0.1:8080/x", secret=SECRET)


def test_mail_leaves_this_machine_only_encrypted() -> None:
    with pytest.raises(ValidationError, match="starttls or tls"):
        SmtpServer(host="mail.acme.example", sender="gaby@acme.example", security="none")
