"""What one channel was sent about one cluster: so that each condition is alerted once, reminded of, and ended once."""

import json
from dataclasses import dataclass

import msgspec

from kafka_audit.alerting.conditions import Condition

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class OpenAlert:
    """A condition that was alerted and is not over.

    Attributes:
        key: stays the same until it is over; mails of one key are one thread.
        condition: as the newest audit saw it.
        affected: brokers, else topics, that an alert ever named as affected.
        severity: the worst that was sent.
        since: when the first alert was sent, ISO 8601.
        sent: when the newest alert was sent.
        audits: how many saw it.
    """

    key: str
    condition: Condition
    affected: tuple[str, ...]
    severity: str
    since: str
    sent: str
    audits: int = 1


@dataclass(frozen=True, kw_only=True)
class DedupeState:
    """What one channel was sent about one cluster.

    Attributes:
        open_alerts: conditions that are not over.
        verdict: the newest judgement in a few words, "" before the first.
        judged_at: when that was, ISO 8601.
        failed: audits since then that judged nothing.
        newest: when the newest audit ended that was decided on; an older one, judged again, alerts nothing.
    """

    open_alerts: tuple[OpenAlert, ...] = ()
    verdict: str = ""
    judged_at: str = ""
    failed: int = 0
    newest: str = ""

    def to_json(self) -> str:
        """Return the text that `from_json` reads."""
        return json.dumps({"version": VERSION} | msgspec.to_builtins(self), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> "DedupeState":
        """Read what `to_json` wrote; raises `ValueError` for anything else."""
        try:
            raw = json.loads(text)
            found = msgspec.convert(raw, cls)
        except RecursionError as error:
            raise ValueError(str(error)) from error
        if raw.get("version") != VERSION or "open_alerts" not in raw:
            msg = "written by another version"
            raise ValueError(msg)
        return found
