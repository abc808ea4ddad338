"""A profile says which kinds leave a text; secrets do in all of them."""

import pytest

from gaby.safety.redaction.profiles import DEFAULT, GDPR, HIPAA, SOC2, Profile, UnknownProfile, parse_profile
from gaby.safety.redaction.spans import ALL_KINDS, SECRET_KINDS, SpanCertainty

pytestmark = pytest.mark.promise("S5")


@pytest.mark.parametrize("profile", [DEFAULT, GDPR, HIPAA, SOC2])
def test_secrets_and_what_anybody_calls_personal_leave_everywhere(profile: Profile) -> None:
    assert profile.kinds >= SECRET_KINDS
    assert profile.kinds >= {"card", "iban", "national_id", "email", "phone", "name", "personal"}


def test_each_profile_has_its_own_kinds() -> None:
    assert DEFAULT.kinds == SECRET_KINDS | {"card", "iban", "national_id", "email", "phone", "name", "personal"}
    assert SOC2.kinds - DEFAULT.kinds == {"account", "ip", "mac"}
    assert GDPR.kinds - SOC2.kinds == {"address", "birth_date"}
    assert HIPAA.kinds - GDPR.kinds == {"medical_id"}
    assert HIPAA.kinds == ALL_KINDS


def test_only_privacy_laws_ask_for_what_is_merely_possible() -> None:
    certainties = [profile.at_least for profile in (DEFAULT, SOC2, GDPR, HIPAA)]
    assert certainties == [SpanCertainty.LIKELY, SpanCertainty.LIKELY, SpanCertainty.POSSIBLE, SpanCertainty.POSSIBLE]


@pytest.mark.parametrize(
    ("setting", "profile"),
    [
        ("default", DEFAULT),
        ("GDPR", GDPR),
        (" hipaa ", HIPAA),
        ("soc2", SOC2),
        ("SOC 2", SOC2),
        ("soc-2", SOC2),
        ("soc_2", SOC2),
    ],
)
def test_a_setting_names_a_profile(setting: str, profile: Profile) -> None:
    assert parse_profile(setting) is profile


@pytest.mark.parametrize("setting", ["", "none", "soc3"])
def test_another_name_is_refused_with_the_choice(setting: str) -> None:
    with pytest.raises(UnknownProfile, match="default, gdpr, hipaa, soc2") as refused:
        parse_profile(setting)
    assert refused.value.details == {"profile": setting}


def test_a_profile_is_a_value() -> None:
    assert hash(DEFAULT) == hash(DEFAULT.model_copy())


def test_profiles_are_named() -> None:
    assert [profile.name for profile in (DEFAULT, SOC2, GDPR, HIPAA)] == ["default", "soc2", "gdpr", "hipaa"]
