"""What is quoted: the entry that fits, what of its page belongs to the questions, and no more than fits in a reply."""

import pytest

from gaby.llm.embeddings.embed import Embed
from gaby.mind import FoundPassage
from gaby.mind.answers import WELL, PageAnswer, answer
from gaby.mind.excerpts import MAX_CHARACTERS

pytestmark = pytest.mark.promise("K5")


def page(name: str, text: str) -> FoundPassage:
    return FoundPassage(f"doc:docs/{name}.md#L1-L40", text.partition("\n")[0].lstrip("# "), text)


HARBOUR = page(
    "harbour",
    "# Berths for guests\n\n## Fees\n\n| Boat | Summer | Winter |\n|---|---|---|\n| up to 8 m | 18 EUR | 9 EUR |\n"
    "| 8 to 12 m | 26 EUR | 13 EUR |\n| over 12 m | 40 EUR | 20 EUR |\n\n"
    "Whoever stays for a week pays six nights. Fees are paid at the kiosk by noon.\n\n"
    "## Electricity\n\nTwo kilowatt hours a day are in the fee. Adapters are lent for a deposit of 30 EUR.\n",
)
LAMPS = page(
    "lamps",
    "# Lamps on the winch\n\n- **W-1**: the brake is on. Turn the red wheel.\n"
    "- **W-2**: the oil is low. Fill it up.\n- **W-3**: the motor is hot. Wait for 20 minutes.\n",
)
SAUNA = page(
    "sauna",
    "# Sauna on pier 4\n\n**Opening:** Tuesday to Sunday 14:00 to 22:00.\n\n"
    "**Price:** 11 EUR, with a berth ticket 7 EUR.\n\n"
    "*Booking*\n\nGroups of more than six book a day ahead at the kiosk. They pay 50 EUR and bring their own wood.\n",
)
PASSAGES = [HARBOUR, LAMPS, SAUNA]


def answer_text(found: PageAnswer) -> str:
    return "\n".join(each.text for each in found.sentences)


def test_both_parts_of_a_question_are_answered_from_one_section(embed: Embed) -> None:
    found = answer("What does a berth cost for a boat of 9 m, and where do we pay the fees?", PASSAGES, embed)
    assert found.how_well >= WELL
    assert "26 EUR" in answer_text(found)
    assert "at the kiosk by noon" in answer_text(found)
    assert {each.citations for each in found.sentences} == {(HARBOUR.citation,)}


def test_only_the_entry_of_the_code_is_quoted(embed: Embed) -> None:
    found = answer("winch shows W-3 and will not pull, what do i do", PASSAGES, embed)
    assert answer_text(found) == "W-3: the motor is hot.\nWait for 20 minutes."
    assert found.is_exact


def test_an_id_beside_a_code_that_a_page_explains_hinders_nothing(embed: Embed) -> None:
    assert answer("Winch KR-77 shows W-2. What do I do?", PASSAGES, embed).how_well >= WELL
    assert answer("Winch KR-77 shows W-9. What do I do?", PASSAGES, embed).sentences == ()


def test_of_a_table_only_the_rows_that_the_question_names(embed: Embed) -> None:
    plans = page("plans", "# Tickets\n\n| Ticket | Price |\n|---|---|\n| Day | 4 EUR |\n| Month | 60 EUR |\n")
    found = answer("How much is the ticket for a month?", [plans], embed)
    assert answer_text(found) == "Ticket: Month; Price: 60 EUR."


def test_an_emphasised_line_is_the_heading_of_what_follows(embed: Embed) -> None:
    found = answer("How does a group of ten do the booking for the sauna, and what is the price?", PASSAGES, embed)
    assert found.how_well >= WELL
    assert "Booking: Groups of more than six book a day ahead at the kiosk." in answer_text(found)
    assert "*" not in answer_text(found)


def test_several_entries_are_a_list_and_fit_in_a_reply(embed: Embed) -> None:
    long = page("long", "# Rules\n\n" + "\n\n".join(f"**Rule {n}:** ropes {'are kept dry ' * 12}." for n in range(40)))
    found = answer("How are ropes kept dry?", [long], embed)
    assert found.sentences
    assert len(answer_text(found)) <= MAX_CHARACTERS * 1.1
    assert answer_text(found).startswith("- ")


def test_a_name_that_no_page_has_is_not_answered_for(embed: Embed) -> None:
    assert answer("Does the sauna take the price from my VISA card?", PASSAGES, embed).how_well < WELL


def test_a_question_is_left_open_if_a_part_of_it_is_about_something_else(embed: Embed) -> None:
    assert answer("What is the price of the sauna? And who repairs torn sails?", PASSAGES, embed).how_well < WELL


@pytest.mark.parametrize("code", ["A8", "A-8", "A17"])
def test_codes_within_a_text_are_not_taken_for_each_other(code: str, embed: Embed) -> None:
    app = page("app", "# The app\n\nError A7 in the app: the payment is open. Error A9: the course is full.\n")
    assert answer("The app shows A9. What does that mean?", [app], embed).sentences
    assert answer(f"The app shows {code}. What does that mean?", [app], embed).sentences == ()


def test_what_a_page_only_mentions_is_not_what_it_is_about(embed: Embed) -> None:
    registry = page("registry", "# Weddings\n\nGive notice 29 days before, 42 EUR each. Bring your passport.\n")
    assert answer("How much is a new passport?", [registry], embed).how_well < WELL
    passports = page("passports", "# Passports\n\nA passport is 80 EUR and takes three weeks.\n")
    assert answer("How much is a new passport?", [registry, passports], embed).how_well >= WELL


HIRE = page(
    "hire",
    "# Kayak hire\n\nIf you give a kayak back early, part of the price is repaid:\n\n"
    "| given back | share |\n|---|---|\n| before noon | 45 % |\n| before four | 15 % |\n\n"
    "The repayment goes to your bank card. Repayments take 6 working days.\n",
)


def test_a_table_is_quoted_with_the_paragraph_that_goes_on_with_it(embed: Embed) -> None:
    found = answer_text(answer("How many working days until a repayment is on my bank card?", [*PASSAGES, HIRE], embed))
    assert "6 working days" in found
    assert "45 %" in found
    assert "part of the price is repaid" in found
    found = answer_text(answer("What does a boat of over 12 m pay in summer?", PASSAGES, embed))
    assert "40 EUR" in found
    assert "Whoever stays for a week pays six nights." in found


def test_of_pages_that_fit_alike_none_answers_for_sure(embed: Embed) -> None:
    one = page("north", "# North gate\n\nThe barrier opens with a chip. Lost chips are replaced for 12 EUR.\n")
    other = page("south", "# South gate\n\nThe barrier opens with a chip. Lost chips are replaced for 30 EUR.\n")
    ticket = "What does it cost to replace a lost chip?"
    assert answer(ticket, [one, other], embed).how_well < answer(ticket, [one, LAMPS], embed).how_well
