"""A zone, a day or a key that cannot be meant is refused in one sentence, and what is meant is what is used."""

from datetime import UTC, datetime

import pytest

from vault_ask.composition.parts import make_dating
from vault_ask.errors import ConfigError
from vault_ask.notes.days import DATE_PROPERTIES
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ({"zone": "Stockholm"}, "time.zone: 'Stockholm' is no time zone that this machine knows"),
        ({"zone": "../etc/passwd"}, "Name one as the IANA does, such as Europe/Stockholm"),
        ({"week_start": "tuesday"}, "time.week_start"),
        ({"properties": "date"}, "time.properties"),
        ({"hemisphere": "south"}, "time.hemisphere: is no setting of vault-ask"),
    ],
)
def test_what_cannot_be_meant_is_refused(time: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load_settings(overrides={"time": time})
    assert "\n" not in str(caught.value)


def test_the_zone_is_the_owners_or_the_machines() -> None:
    moment = datetime(2026, 3, 15, 23, 30, tzinfo=UTC)
    stockholm = load_settings(overrides={"time": {"zone": " Europe/Stockholm "}}).time
    assert moment.astimezone(stockholm.tzinfo).isoformat() == "2026-03-16T00:30:00+01:00"
    assert Settings().time.tzinfo is None, "datetime takes that for the machine's own"


def test_the_properties_are_the_usual_ones_until_some_are_named() -> None:
    assert make_dating(Settings()).properties == DATE_PROPERTIES
    assert make_dating(load_settings(overrides={"time": {"properties": ["began"]}})).properties == ("began",)
    assert make_dating(load_settings(overrides={"time": {"properties": []}})).properties == ()
