"""An error says what is wrong and what to do, to people, to programs and to shells."""

import pytest

from gaby.kernel import errors
from gaby.kernel.errors import GabyError, Invalid, NotFound, TooManyRequests, Unauthenticated, Unavailable

EVERY = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, GabyError)]


class ConnectorQuarantined(GabyError):
    """The connector's tools changed since they were accepted. Review the
    diff with `gaby connector diff NAME`."""

    status = 409


class Nameless(NotFound):
    pass


def test_the_docstring_is_the_message_on_one_line() -> None:
    error = ConnectorQuarantined()
    assert str(error) == error.message
    assert error.message == (
        "The connector's tools changed since they were accepted. Review the diff with `gaby connector diff NAME`."
    )


def test_a_message_with_values_wins_and_the_title_stays() -> None:
    problem = NotFound("There is no ticket 7.").problem()
    assert problem["detail"] == "There is no ticket 7."
    assert problem["title"] == "There is no such thing here."


def test_the_code_is_the_stable_name() -> None:
    assert ConnectorQuarantined().code == "connector_quarantined"
    assert ConnectorQuarantined().problem()["type"] == "urn:gaby:error:connector_quarantined"


def test_a_problem_has_the_agreed_fields_and_no_other_details() -> None:
    assert NotFound(secret="s3cret").problem().keys() == {"type", "title", "status", "detail", "code"}
    assert Invalid(errors=[{"where": "body", "message": "no"}]).problem()["errors"] == [
        {"where": "body", "message": "no"}
    ]


@pytest.mark.parametrize("error", EVERY)
def test_every_error_explains_itself_and_has_a_status_and_an_exit_code(error: type[GabyError]) -> None:
    told = error()
    assert told.message.endswith(".")
    assert "\n" not in told.message
    assert 400 <= told.status < 600
    assert told.exit_code > 0
    assert told.problem()["status"] == told.status


def test_an_error_without_words_of_its_own_still_has_some() -> None:
    assert Nameless().message


def test_who_should_come_back_is_told_when() -> None:
    assert TooManyRequests(retry_after=7).headers == {"Retry-After": "7"}
    assert Unavailable().headers == {"Retry-After": "5"}
    assert Unauthenticated().headers == {"WWW-Authenticate": "Bearer"}
