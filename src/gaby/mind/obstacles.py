"""Why a runbook that fits was not followed to its end: its errors, conditions that nobody could evaluate, and values
that nobody could tell. It is said to colleagues; what only the requester can tell is asked for."""

from dataclasses import replace

from gaby.mind.investigation import FITS, Diagnosis, SituationAnalysis
from gaby.mind.runbook_calls import MissingArgument, reads, writes
from gaby.mind.sentences import split
from gaby.mind.summaries import CitedSentence
from gaby.mind.ticket_parts import tells

_SHOWN_ERRORS = 3
_SURELY = 0.5
_HARDLY = 0.25
_QUOTED = 160
_MOST_SENTENCES = 20
_READ = 6000


def obstacles(investigation: SituationAnalysis) -> list[CitedSentence]:
    """Empty when every runbook that fits was followed, whatever came of it."""
    sentences: list[CitedSentence] = []
    if (broken := investigation.broken) is not None:
        lines = "; ".join(each.message for each in broken.errors[:_SHOWN_ERRORS])
        text = f"The runbook “{broken.title}” fits and was not followed, because it has errors: {lines}."
        sentences.append(CitedSentence(text, broken.citations))
    if (undecided := investigation.undecided) is not None:
        sentences.append(CitedSentence(undecided.explanation, undecided.runbook.citations))
        sentences += [
            CitedSentence(f"{each.explanation}.", undecided.runbook.citations)
            for each in missing_arguments(investigation)
            if not each.value.ask
        ]
    return sentences


def in_short(investigation: SituationAnalysis) -> str:
    """In a sentence, for whoever decides what to do with the ticket; the notes say more."""
    if investigation.undecided is not None:
        return f"The runbook “{investigation.undecided.runbook.title}” could not be followed to its end."
    title = investigation.broken.title if investigation.broken else ""
    return f"The runbook “{title}” fits and has errors, so it was not followed."


def missing_arguments(investigation: SituationAnalysis) -> list[MissingArgument]:
    """Of the runbook that fits best, as far as it fits at all."""
    best = investigation.fitting_runbooks[0] if investigation.fitting_runbooks else None
    if best is None or (best.fit < FITS and not investigation.situation.follow):
        return []
    return list(reads(investigation, best).missing)


def not_done(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[CitedSentence]:
    """Changes that the cause asks for and that could not be asked for, with the reason."""
    lost = writes(investigation, diagnosis, "").missing if not investigation.remedies(diagnosis) else ()
    is_text = {name for card in investigation.situation.tools for name in card.declares.content}
    return [
        CitedSentence(f"{each.explanation}.", diagnosis.runbook.citations)
        for each in lost
        if each.value.argument not in is_text
    ]


def overlooked(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[CitedSentence]:
    """Sentences of the ticket that are surely about another runbook than the one that was followed."""
    situation = investigation.situation
    if situation.follow or len(investigation.by_fit) < 2:
        return []
    sentences: dict[str, CitedSentence] = {}
    for sentence in split(situation.text[:_READ])[:_MOST_SENTENCES]:
        if not sentence.is_own or not tells(sentence.plain):
            continue
        alone = SituationAnalysis(replace(situation, title="", text=sentence.plain, calls=()), investigation.embed)
        best = alone.by_fit[0]
        mine = next((each.fit for each in alone.by_fit if each.runbook.key == diagnosis.runbook.key), 0.0)
        if best.runbook.key != diagnosis.runbook.key and best.fit >= _SURELY and mine < _HARDLY:
            said = sentence.plain[:_QUOTED].rstrip(" .!?,;:")
            text = f"Not looked into: “{said}”. The runbook “{best.runbook.title}” is about that."
            sentences.setdefault(best.runbook.key, CitedSentence(text, best.runbook.citations))
    return list(sentences.values())


def asked_values(investigation: SituationAnalysis) -> tuple[str, ...]:
    """What the requester is asked for, because the runbook takes it from the ticket and the ticket does not say it."""
    return tuple(dict.fromkeys(each.value.ask for each in missing_arguments(investigation) if each.value.ask))
