"""The clock of questions that are asked as if on another day."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from vault_ask.evaluation.clock import AsIfThen


def test_it_shows_now_until_it_is_turned_to_a_day_and_now_again_after() -> None:
    clock = AsIfThen(ZoneInfo("Asia/Tokyo"))
    assert abs(clock() - datetime.now(UTC)) < timedelta(minutes=1)
    clock.turn_to("2026-08-30")
    assert clock() == datetime(2026, 8, 30, 12, tzinfo=timezone(timedelta(hours=9)))
    clock.turn_to(None)
    assert abs(clock() - datetime.now(UTC)) < timedelta(minutes=1)


def test_without_a_zone_it_is_noon_of_that_day_where_the_machine_stands() -> None:
    clock = AsIfThen(None)
    clock.turn_to("2026-08-30")
    assert (clock().tzinfo is not None, clock().astimezone().hour, clock().astimezone().day) == (True, 12, 30)
