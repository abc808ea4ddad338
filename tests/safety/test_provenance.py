"""Every value knows where it came from, and what nobody trusted named is from outside."""

import pytest

from gaby.safety import ArgumentLeaf, ArgumentTrace, Label, Origin, ProvenanceLedger, ValueUse

pytestmark = pytest.mark.promise("S7")
SYSTEM = Origin(Label.SYSTEM, "the directory", "directory", "user")


def use(connector: str, kind: str | None = "user") -> ValueUse:
    return ValueUse(connector, kind)


def labels(trace: ArgumentTrace) -> list[Label]:
    return [origin.label for origin in trace.origins]


def test_what_nobody_named_is_from_outside_and_its_sources_are_quoted_newest_first() -> None:
    ledger = ProvenanceLedger()
    for number in range(5):
        ledger.read_external(f"page {number}", f"see u-7 on page {number}")
    ledger.read_external("page 5", "nothing here")
    trace = ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))
    assert trace.origins == ()
    assert [quote.source for quote in trace.quotes] == ["page 4", "page 3", "page 2"]
    assert not trace.has(*Label)


def test_an_operators_words_name_values_and_quantities() -> None:
    ledger = ProvenanceLedger()
    ledger.hear_operator("the playbook", "unlock u-7 and pay 1,200")
    ledger.read_external("the ticket", "u-7 1200")
    found = ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))
    assert found.origins == (Origin(Label.OPERATOR, "the playbook"),)
    assert found.quotes == ()
    assert labels(ledger.trace(ArgumentLeaf("amount", "1200", quantity=True), use("bank"))) == [Label.OPERATOR]
    assert labels(ledger.trace(ArgumentLeaf("amount", "1201", quantity=True), use("bank"))) == []
    assert labels(ledger.trace(ArgumentLeaf("id", "u-8"), use("directory"))) == []


def test_a_connector_vouches_only_for_its_own_tools() -> None:
    ledger = ProvenanceLedger()
    ledger.learn("u-7", SYSTEM)
    assert labels(ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))) == [Label.SYSTEM]
    assert labels(ledger.trace(ArgumentLeaf("id", "u-7"), use("billing"))) == []


def test_a_value_vouches_only_for_what_it_names() -> None:
    ledger = ProvenanceLedger()
    ledger.learn("www.evil.example", Origin(Label.SYSTEM, "channels", "chat", "channel"))
    assert labels(ledger.trace(ArgumentLeaf("channel", "www.evil.example"), use("chat", "channel"))) == [Label.SYSTEM]
    assert labels(ledger.trace(ArgumentLeaf("url", "www.evil.example"), use("chat", "url"))) == []
    assert labels(ledger.trace(ArgumentLeaf("url", "www.evil.example"), use("chat", None))) == []
    # Of a kind that nobody knows it is worth nothing, also where nobody knows what is wanted.
    ledger.learn("plain", Origin(Label.SYSTEM, "channels", "chat"))
    for kind in ("channel", None):
        assert labels(ledger.trace(ArgumentLeaf("channel", "plain"), use("chat", kind))) == []


@pytest.mark.parametrize("label", [Label.SYSTEM, Label.PRINCIPAL, Label.OPERATOR])
def test_an_id_counts_in_its_own_system_and_for_its_own_kind_whoever_it_belongs_to(label: Label) -> None:
    ledger = ProvenanceLedger()
    ledger.learn("1001", Origin(label, "a note", "desk", "note"))
    assert labels(ledger.trace(ArgumentLeaf("note_id", "1001"), use("desk", "note"))) == [label]
    assert labels(ledger.trace(ArgumentLeaf("account_id", "1001"), use("desk", "account"))) == []
    assert labels(ledger.trace(ArgumentLeaf("note_id", "1001"), use("billing", "note"))) == []


def test_the_name_of_a_field_is_only_an_operators_to_choose() -> None:
    ledger = ProvenanceLedger()
    ledger.learn_principal("ada@acme.example")
    ledger.hear_operator("words", "Set the flag beta.")
    assert labels(ledger.trace(ArgumentLeaf("options{}", "ada@acme.example"), use("desk"))) == []
    assert labels(ledger.trace(ArgumentLeaf("options{}", "beta"), use("desk"))) == [Label.OPERATOR]
    assert labels(ledger.trace(ArgumentLeaf("options.beta", "ada@acme.example"), use("desk"))) == [Label.PRINCIPAL]


def test_true_and_false_are_named_only_with_their_argument() -> None:
    ledger = ProvenanceLedger()
    ledger.hear_operator("words", "It is true that `overwrite` is true, that grant_admin: false, and no dry-cleaning.")
    true, false = ArgumentLeaf("overwrite", "true", literal=True), ArgumentLeaf("grant_admin", "false", literal=True)
    assert labels(ledger.trace(true, use("desk"))) == [Label.OPERATOR]
    assert labels(ledger.trace(false, use("desk"))) == [Label.OPERATOR]
    assert labels(ledger.trace(ArgumentLeaf("grant_admin", "true", literal=True), use("desk"))) == []
    assert labels(ledger.trace(ArgumentLeaf("everything", "true", literal=True), use("desk"))) == []
    ledger.read_external("the ticket", "everything: true")
    assert ledger.trace(ArgumentLeaf("everything", "true", literal=True), use("desk")).quotes == ()


def test_the_requester_and_an_operator_count_for_every_connector_and_kind() -> None:
    ledger = ProvenanceLedger()
    ledger.learn_principal("ada@acme.example", "u-7")
    ledger.learn("u-8", Origin(Label.OPERATOR, "the configuration"))
    for value, label in (("ada@acme.example", Label.PRINCIPAL), ("u-7", Label.PRINCIPAL), ("u-8", Label.OPERATOR)):
        assert labels(ledger.trace(ArgumentLeaf("id", value), use("any", "kind"))) == [label]
    assert ledger.trace(ArgumentLeaf("id", "u-7"), use("any")).origins[0].source == "the verified requester"


def test_all_origins_of_a_value_are_kept_once_each_and_words_come_first() -> None:
    ledger = ProvenanceLedger()
    ledger.learn("u-7", SYSTEM)
    ledger.learn("u-7", SYSTEM)
    ledger.learn_principal("u-7")
    ledger.hear_operator("words", "u-7")
    trace = ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))
    assert labels(trace) == [Label.OPERATOR, Label.SYSTEM, Label.PRINCIPAL]
    assert trace.has(Label.PRINCIPAL)
    assert not trace.has(Label.EXTERNAL)
    assert not trace.has()


def test_spaces_around_a_value_are_not_part_of_it_and_nothing_is_no_value() -> None:
    ledger = ProvenanceLedger()
    ledger.learn("  u-7 ", SYSTEM)
    ledger.learn("   ", SYSTEM)
    assert labels(ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))) == [Label.SYSTEM]
    # What is passed on with a space is something else for whoever receives it.
    assert labels(ledger.trace(ArgumentLeaf("id", " u-7"), use("directory"))) == []
    assert labels(ledger.trace(ArgumentLeaf("id", ""), use("directory"))) == []


def test_a_value_learned_again_with_spaces_keeps_what_was_known_of_it() -> None:
    ledger = ProvenanceLedger()
    ledger.learn("u-7", SYSTEM)
    ledger.learn_principal(" u-7 ")
    assert labels(ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))) == [Label.SYSTEM, Label.PRINCIPAL]


def test_labels_are_called_as_people_see_them() -> None:
    assert list(Label) == ["operator", "created", "system", "template", "principal", "external"]


@pytest.mark.parametrize("spelled", ["U-7", "ｕ-7", "u-\u200b7", "u\u20107", "dS03", "u -7"])
def test_another_spelling_of_a_trusted_value_is_another_value(spelled: str) -> None:
    ledger = ProvenanceLedger()
    ledger.learn("u-7", SYSTEM)
    assert labels(ledger.trace(ArgumentLeaf("id", spelled), use("directory"))) == []


def test_the_memory_of_outside_texts_is_bounded() -> None:
    ledger = ProvenanceLedger()
    ledger.read_external("long", "x" * 19_996 + " u-19")
    for number in range(399):
        ledger.read_external(f"page {number}", "nothing")
    assert ledger.trace(ArgumentLeaf("id", "u-1"), use("d")).quotes[0].source == "long"
    assert ledger.trace(ArgumentLeaf("id", "u-19"), use("d")).quotes == ()
    ledger.read_external("one more", "nothing")
    assert ledger.trace(ArgumentLeaf("id", "u-1"), use("d")).quotes == ()


@pytest.mark.promise("S9")
def test_links_and_addresses_that_somebody_trusted_named_are_known() -> None:
    ledger = ProvenanceLedger()
    ledger.hear_operator("the playbook", "Point them to https://help.acme.example/reset.")
    ledger.learn("ada@acme.example", Origin(Label.PRINCIPAL, "the requester"))
    ledger.read_external("the ticket", "https://evil.example/reset")
    known = {value for value in ("https://help.acme.example/reset", "ada@acme.example") if ledger.trusts_carrier(value)}
    assert known == {"https://help.acme.example/reset", "ada@acme.example"}
    assert not ledger.trusts_carrier("https://evil.example/reset")


@pytest.mark.promise("S9")
def test_a_trusted_name_that_contains_a_link_does_not_vouch_for_the_link() -> None:
    """Whoever makes a channel chooses its name."""
    ledger = ProvenanceLedger()
    ledger.learn("general, see www.evil.example", SYSTEM)
    ledger.learn("www.planted.example", Origin(Label.SYSTEM, "channels", "chat", "channel"))
    ledger.learn(" www.real.example ", Origin(Label.OPERATOR, "the configuration"))
    ledger.learn("www.of-a-system.example", SYSTEM)
    ledger.learn_principal("Ada, see www.of-a-name.example")
    assert not ledger.trusts_carrier("www.evil.example")
    assert not ledger.trusts_carrier("www.planted.example")
    assert ledger.trusts_carrier("www.real.example")
    assert not ledger.trusts_carrier("www.of-a-system.example")
    assert not ledger.trusts_carrier("www.of-a-name.example")


@pytest.mark.promise("S9")
def test_a_text_of_the_company_vouches_for_its_links_and_steers_nothing() -> None:
    ledger = ProvenanceLedger()
    ledger.trust_carriers("Help is at https://help.acme.example/reset for u-7.")
    assert ledger.trusts_carrier("https://help.acme.example/reset")
    assert labels(ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))) == []


@pytest.mark.promise("S9")
def test_a_text_is_vouched_for_as_a_whole_by_the_connector_that_returned_it() -> None:
    ledger = ProvenanceLedger()
    ledger.learn("Elm Street 7", SYSTEM)
    ledger.learn("Elm Street 7", Origin(Label.SYSTEM, "billing", "billing", "address"))
    ledger.learn_principal("ada@acme.example")
    assert ledger.vouches_whole("Elm Street 7", "directory")
    assert ledger.vouches_whole("Elm Street 7", "billing")
    assert not ledger.vouches_whole("Elm Street 7", "mail")
    assert not ledger.vouches_whole("Elm Street", "directory")
    assert not ledger.vouches_whole("ada@acme.example", "directory")


@pytest.mark.promise("S8")
def test_nothing_is_bound_to_a_requester_in_whose_name_somebody_else_may_have_written() -> None:
    ledger = ProvenanceLedger()
    ledger.learn("u-7", SYSTEM)
    ledger.learn_principal("u-7", "ada@acme.example")
    ledger.revoke_principals()
    assert labels(ledger.trace(ArgumentLeaf("id", "u-7"), use("directory"))) == [Label.SYSTEM]
    assert labels(ledger.trace(ArgumentLeaf("to", "ada@acme.example"), use("mail"))) == []
    ledger.learn_principal("bob@acme.example")
    assert labels(ledger.trace(ArgumentLeaf("to", "bob@acme.example"), use("mail"))) == [Label.PRINCIPAL]


def test_a_template_is_filled_only_by_words_that_name_nothing() -> None:
    ledger = ProvenanceLedger()
    ledger.hear_operator("words", "Call it 'Account {name}'.")
    assert labels(ledger.trace(ArgumentLeaf("title", "Account Eve"), use("desk", "text"))) == [Label.TEMPLATE]
    assert labels(ledger.trace(ArgumentLeaf("account", "Account Eve"), use("desk", "account"))) == []
    assert labels(ledger.trace(ArgumentLeaf("title", "Account Eve"), use("desk", None))) == []
    assert labels(ledger.trace(ArgumentLeaf("title{}", "Account Eve"), use("desk", "text"))) == []
    ledger.learn_principal("Account Ada")
    assert labels(ledger.trace(ArgumentLeaf("title", "Account Ada"), use("desk", "text"))) == [Label.PRINCIPAL]
    ledger.hear_operator("more words", "or 'Account Eve'")
    assert ledger.trace(ArgumentLeaf("title", "Account Eve"), use("desk", "text")).origins == (
        Origin(Label.OPERATOR, "more words"),
    )


def test_what_a_template_is_filled_with_from_outside_is_quoted_if_it_does_not_fit() -> None:
    ledger = ProvenanceLedger()
    ledger.hear_operator("words", "Call it 'Account {name}'.")
    ledger.read_external("the ticket", "Account www.evil.example")
    [quote] = ledger.trace(ArgumentLeaf("title", "Account www.evil.example"), use("desk", "text")).quotes
    assert quote.source == "the ticket"
