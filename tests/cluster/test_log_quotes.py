"""How a line of a log is quoted: its time once, unless the log's clock is another one."""

import pytest

from checks.secured_world import log_line
from kafka_audit.cluster.answers.log_lines import quoted

AT_MS = 1_795_791_601_000  # 2026-11-27 15:00:01 UTC; the builder's newest line is a second older


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[2026-11-27 15:00:00,123] WARN it says so (kafka)", "last 2026-11-27 15:00:00 UTC: WARN it says so (kafka)"),
        ("[2026-11-27 16:00:00,123] WARN it says so", "last 2026-11-27 15:00:00 UTC: [2026-11-27 16:00:00,123] WARN it says so"),
        ("WARN [node 2] it says so", "last 2026-11-27 15:00:00 UTC: WARN [node 2] it says so"),
    ],
    ids=["of-utc", "of-another-zone", "without-a-time"],
)
def test_a_time_that_is_shown_already_is_not_quoted_again(text: str, shown: str) -> None:
    assert quoted(log_line(AT_MS, broker=0, about=2, signature="connection_failed", text=text)).endswith(shown)


def test_a_line_whose_time_is_unknown_keeps_what_it_has() -> None:
    line = log_line(
        AT_MS,
        broker=0,
        about=2,
        signature="connection_failed",
        text="[2026-11-27 15:00:00,123] WARN it",
        last_ms=None,
        written=None,
    )
    assert quoted(line).endswith("last at an unknown time: [2026-11-27 15:00:00,123] WARN it")
