"""Why a runbook that fits was not followed to its end: its errors, conditions that nobody could evaluate, and values
that nobody could tell. It is said to colleagues; what only the requester can tell is asked for."""

from gaby.mind.investigation import FITS, Diagnosis, Investigation
from gaby.mind.runbook_calls import MissingArgument, reads, writes
from gaby.mind.runbooks import Runbook
from gaby.mind.summaries import CitedSentence

_SHOWN_ERRORS = 3


def obstacles(investigation: Investigation) -> list[CitedSentence]:
    """Empty when every runbook that fits was followed, whatever came of it."""
    found: list[CitedSentence] = []
    if (broken := investigation.broken) is not None:
        lines = "; ".join(each.told for each in broken.errors[:_SHOWN_ERRORS])
        text = f"The runbook “{broken.title}” fits and was not followed, because it has errors: {lines}."
        found.append(CitedSentence(text, broken.citations))
    if (undecided := investigation.undecided) is not None:
        found.append(CitedSentence(undecided.told, undecided.book.citations))
        found += [
            CitedSentence(f"{each.told}.", undecided.book.citations)
            for each in missing_arguments(investigation)
            if not each.value.ask
        ]
    return found


def stopped_book(investigation: Investigation) -> Runbook | None:
    """The runbook that fits and was not followed to its end."""
    if investigation.undecided is not None:
        return investigation.undecided.book
    return investigation.broken


def in_short(investigation: Investigation) -> str:
    """In a sentence, for whoever decides what to do with the ticket; the notes say more."""
    if investigation.undecided is not None:
        return f"The runbook “{investigation.undecided.book.title}” could not be followed to its end."
    title = investigation.broken.title if investigation.broken else ""
    return f"The runbook “{title}” fits and has errors, so it was not followed."


def missing_arguments(investigation: Investigation) -> list[MissingArgument]:
    """Of the runbook that fits best, as far as it fits at all."""
    best = investigation.books[0] if investigation.books else None
    if best is None or (best.fit < FITS and not investigation.situation.follow):
        return []
    return list(reads(investigation, best).missing)


def not_done(investigation: Investigation, diagnosis: Diagnosis) -> list[CitedSentence]:
    """Changes that the cause asks for and that could not be asked for, with the reason."""
    lost = writes(investigation, diagnosis, "").missing if not investigation.remedies(diagnosis) else ()
    is_text = {name for card in investigation.situation.tools for name in card.declares.content}
    return [
        CitedSentence(f"{each.told}.", diagnosis.book.citations) for each in lost if each.value.argument not in is_text
    ]


def asked_values(investigation: Investigation) -> tuple[str, ...]:
    """What the requester is asked for, because the runbook takes it from the ticket and the ticket does not say it."""
    return tuple(dict.fromkeys(each.value.ask for each in missing_arguments(investigation) if each.value.ask))
