"""Whether the values of a sentence stand in its source, in any spelling; words are not judged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.mind.support import SupportCheck, support
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("K5")

LOCK = "After five failed sign-ins an account is locked for 30 minutes. An operator unlocks it with unlock_user."
REFUND = "A refund is possible within 14 days of purchase. Refunds above 500 USD need the approval of finance."
VPN = "The VPN fails with error E-1042 when the certificate has expired. Renew the certificate in the portal."
MAIL = "Questions about invoices go to billing@lanternfish.example. The team answers within two working days."
BACKUP = "Backups run every night at 02:30 UTC and are kept for ninety days. They are encrypted."
EXPORT = "Exports are disabled on the free plan. The largest export has 1,000 rows."
RELEASE = "Version 4.2.1 was released on 12 March 2026. It does not support Windows 7."
PRINTER = "The label printer prints blank pages when the ribbon is inserted upside down. Turn the ribbon around."
SEATS = "The team plan includes 25 seats. Further seats cost 9.50 EUR each month."
UPLOAD = "Uploads larger than 2 GB are rejected with HTTP 413. Split the file before the upload."
SSO = "Single sign-on is available on the business plan. It is not available on the free plan."
QUEUE = "The queue db-7 is paused during maintenance. Host mx2.lanternfish.example takes over."
API = "The API allows 600 requests per minute. Clients above the limit receive HTTP 429 and should wait 60 seconds."
SECRETS = "Keys are stored in the vault. Nobody can read a key after it was created."
PEOPLE = (
    "Ada answers questions about invoices at joanna@lanternfish.example. "
    "Payroll runs on the first Monday of each month."
)
TOKENS = "Tokens expire after one day. A token is revoked in /etc/gateway/tokens.conf."
PHONE = "Call the hotline at +44 20 7946 0958 between 9:00 and 17:30."

RIGHT = [
    ("After five failed sign-ins the account is locked.", LOCK),
    ("The account is locked for 30 minutes after 5 failed sign-ins.", LOCK),
    ("Use unlock_user to unlock the account.", LOCK),
    ("You can get a refund within 14 days of the purchase.", REFUND),
    ("Refunds of more than 500 USD need the approval of finance.", REFUND),
    ("A refund above $500 needs approval.", REFUND),
    ("E-1042 means that the certificate has expired.", VPN),
    ("Please renew the certificate in the portal.", VPN),
    ("Write to billing@lanternfish.example about invoices.", MAIL),
    ("The team answers within 2 working days.", MAIL),
    ("Backups are kept for 90 days.", BACKUP),
    ("Backups run at 02:30 UTC every night.", BACKUP),
    ("An export has at most 1000 rows.", EXPORT),
    ("Exports are not enabled on the free plan.", EXPORT),
    ("On 2026-03-12 version 4.2.1 was released.", RELEASE),
    ("Windows 7 is unsupported by version 4.2.1.", RELEASE),
    ("The printer prints blank pages because the ribbon is upside down.", PRINTER),
    ("Turn around the ribbon of the label printer.", PRINTER),
    ("The team plan has twenty-five seats.", SEATS),
    ("Each further seat costs 9.50 EUR.", SEATS),
    ("HTTP 413 rejects uploads larger than 2 GB.", UPLOAD),
    ("Single sign-on is not available on the free plan.", SSO),
    ("Single sign-on is available on the business plan.", SSO),
    ("After HTTP 429, wait 60 seconds.", API),
    ("Wait one minute after HTTP 429 from the API.", API),
    ("A key cannot be read after it was created.", SECRETS),
    ("The hotline is +44 20 7946 0958.", PHONE),
    ("Call the hotline between 9:00 and 17:30.", PHONE),
    ("You can call the hotline until 5:30 pm.", PHONE),
    ("Questions about invoices are answered by Ada.", PEOPLE),
    ("Tokens expire after 24 hours.", TOKENS),
    ("Revoke the token in /etc/gateway/tokens.conf.", TOKENS),
    ("Der Drucker wird neu gestartet.", "Der Drucker wird neu gestartet, wenn das Papier klemmt."),
    ("No approval of finance is needed for refunds below 500 USD.", REFUND),
    ("A token cannot be used after one day.", TOKENS),
]
WRONG_VALUE = [
    ("After six failed sign-ins the account is locked.", LOCK),
    ("The account is locked for 45 minutes.", LOCK),
    ("The account is locked for 30 hours.", LOCK),
    ("The account is locked for thirty days.", LOCK),
    ("Use unlock_user2 to unlock the account.", LOCK),
    ("A refund is possible within 14 weeks of purchase.", REFUND),
    ("Refunds above 500 EUR need the approval of finance.", REFUND),
    ("Refunds above 5000 USD need the approval of finance.", REFUND),
    ("The VPN fails with error E-1024 when the certificate has expired.", VPN),
    ("Questions about invoices go to bills@lanternfish.example.", MAIL),
    ("Questions about invoices go to billing@lanternfish.test.", MAIL),
    ("The team answers within two hours.", MAIL),
    ("The team answers within three working days.", MAIL),
    ("Backups run every night at 03:30 UTC.", BACKUP),
    ("Backups run every night at 02:30 pm.", BACKUP),
    ("Backups are kept for nineteen days.", BACKUP),
    ("Backups are kept for ninety years.", BACKUP),
    ("The largest export has 10,000 rows.", EXPORT),
    ("Version 4.2.2 was released in March.", RELEASE),
    ("Version 4.2.1 was released on 13 March 2026.", RELEASE),
    ("Version 4.2.1 was released on 12 May 2026.", RELEASE),
    ("Version 4.2.1 was released on 2026-12-03.", RELEASE),
    ("The team plan includes 20 seats.", SEATS),
    ("Further seats cost 9.05 EUR each month.", SEATS),
    ("Further seats cost 9.50 EUR each year.", SEATS),
    ("Uploads larger than 2 MB are rejected with HTTP 413.", UPLOAD),
    ("Uploads larger than 2 GB are rejected with HTTP 431.", UPLOAD),
    ("The queue db-8 is paused during maintenance.", QUEUE),
    ("Host mx3.lanternfish.example takes over.", QUEUE),
    ("The API allows 600 requests per second.", API),
    ("Call the hotline at +44 20 7946 0985.", PHONE),
    ("Clients above the limit should wait 60 minutes.", API),
    ("Refunds in EUR need the approval of finance.", REFUND),
    ("Write to anna@lanternfish.example about invoices.", PEOPLE),
    ("Refunds go to the account of Ada Lindqvist.", PEOPLE),
    ("The invoice INV-204 was paid.", "The invoice INV-2041 was paid."),
    ("The team answers within one working day.", MAIL),
    ("The team plan includes one seat.", SEATS),
    ("Tokens expire after one week.", TOKENS),
    ("Revoke the token in /etc/tokens.conf.", TOKENS),
    ("Payroll runs on the first Friday of each month.", PEOPLE),
]
WORDS = [
    ("Refunds below 500 USD need the approval of finance.", REFUND),
    ("Backups are not encrypted.", BACKUP),
    ("The kitchen closes early.", LOCK),
    ("Das Konto wird nach 5 Versuchen gesperrt.", LOCK),
]
"""What rules cannot say: a model judges it, or nobody does."""
SAME = [
    ("The charge is 12.50 EUR.", '{"amount_cents": 1250, "currency": "EUR"}'),
    ("The charge is 12.5.", '{"amount_minor": 1250}'),
    ("There is one open invoice.", '{"open_invoices": 1}'),
    ("It was paid on 12 March 2026.", '{"paid_at": "2026-03-12"}'),
    ("It has 12,000 rows.", '{"rows": 12000}'),
    ("Gold Plus is for Nora Brandt.", '{"first_name": "Nora", "last_name": "Brandt", "plan": "gold plus"}'),
]
OTHER = [
    ("The charge is 12.50 EUR.", '{"amount": 1250, "currency": "EUR"}'),
    ("The charge is 12.51 EUR.", '{"amount_cents": 1250, "currency": "EUR"}'),
    ("The charge is 12.50 USD.", '{"amount_cents": 1250, "currency": "EUR"}'),
    ("There is one open invoice.", '{"open_invoices": 2}'),
    ("It was paid on 12 March 2026.", '{"paid_at": "2026-12-03"}'),
    ("It is for Nora Brandt.", '{"first_name": "Nora", "last_name": "Petri"}'),
    ("Use StarLink for it.", "Use the portal for it."),
]


def is_supported(sentence: str, *sources: str) -> bool:
    return support(sentence, sources).holds


@pytest.mark.parametrize(("sentence", "source"), [*RIGHT, *SAME, *WORDS])
def test_what_has_only_values_of_its_source_holds(sentence: str, source: str) -> None:
    assert is_supported(sentence, source)


@pytest.mark.parametrize(("sentence", "source"), [*WRONG_VALUE, *OTHER])
def test_a_wrong_value_is_never_taken_for_right(sentence: str, source: str) -> None:
    assert not is_supported(sentence, source)


@pytest.mark.parametrize("source", sorted({source for _, source in RIGHT}))
def test_what_a_source_says_word_for_word_holds(source: str) -> None:
    assert is_supported(source, source)
    for sentence in source.split(". "):
        assert is_supported(sentence, source)


def test_several_sources_hold_a_sentence_together() -> None:
    sentence = "The account is locked after five failed sign-ins, and questions go to billing@lanternfish.example."
    assert not is_supported(sentence, LOCK)
    assert not is_supported(sentence, MAIL)
    assert is_supported(sentence, LOCK, MAIL)
    assert not is_supported(sentence.replace("five", "seven"), LOCK, MAIL)


MOMENTS = '{"locked_at": "2030-03-04T07:05:00+00:00", "last_login_at": "2030-03-05T09:30:12Z", "http_status": 401}'


@pytest.mark.parametrize(
    "sentence",
    [
        "It was locked at 2030-03-04 07:05.",
        "It was locked at 2030-03-04T07:05:00Z.",
        "It was locked at 2030-03-04 09:05 +02:00.",
        "It was locked at 7:05 am.",
        "The last login was on 5 March 2030 at 09:30:12.",
        "The last login was at 9:30.",
        "Http status: 401.",
    ],
)
def test_a_moment_is_the_same_in_every_spelling(sentence: str) -> None:
    assert is_supported(sentence, MOMENTS)


@pytest.mark.parametrize(
    "sentence",
    [
        "It was locked at 2030-03-04 07:06.",
        "It was locked at 2030-03-05 07:05.",
        "It was locked at 2030-03-04 07:05 +02:00.",
        "The last login was at 09:30:13.",
        "The last login was at 9:30 pm.",
        "Http status: 402.",
    ],
)
def test_another_moment_is_doubted(sentence: str) -> None:
    assert not is_supported(sentence, MOMENTS)


@pytest.mark.parametrize("said", ["1,200 requests", "1200 requests", "1200.0 requests"])
def test_a_number_is_the_same_in_every_spelling(said: str) -> None:
    assert is_supported(f"The key made {said}.", '{"key": "wall", "requests": 1200}')


def test_a_doubt_says_what_is_missing() -> None:
    assert support("The account is locked for 45 minutes.", [LOCK]).why == "No cited source says 45."


def test_without_a_source_nothing_holds() -> None:
    assert not is_supported("The account is locked.")
    assert not is_supported("The account is locked.", "")


def test_what_claims_nothing_needs_no_source() -> None:
    assert support("", []) == support("...", []) == SupportCheck(holds=True)


@given(sentence=hostile_texts, sources=st.lists(hostile_texts, max_size=3))
def test_any_text_is_judged(sentence: str, sources: list[str]) -> None:
    support_check = support(sentence, sources)
    assert bool(support_check.why) != support_check.holds


@pytest.mark.parametrize(
    "piece",
    ["twenty ", "one hundred ", "9,999", "a@b.example ", "per ", "After ", "not if ", "(" * 50, "INV-1 ", "- x"],
)
def test_a_text_without_end_is_judged_in_the_time_of_its_length(piece: str) -> None:
    endless = piece * (200_000 // len(piece))
    support(endless, [endless, LOCK])
    support("The account is locked for 30 minutes.", [endless])
