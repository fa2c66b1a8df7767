"""Whether the last report of a cluster is clean, as the gate says, and young enough to say anything about now."""

import logging
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_audit.airflow.connections import store_connection
from kafka_audit.airflow.schedule import assets
from kafka_audit.model.errors import SnapshotError, StoreError
from kafka_audit.model.report import Report
from kafka_audit.model.text import our_line
from kafka_audit.report.gate import CLEAN, evaluate_gate
from kafka_audit.store.history import History
from kafka_audit.store.manifest import SKEW, is_of_future

log = logging.getLogger(__name__)
_LONGEST = 500


@dataclass(frozen=True, kw_only=True)
class CleanReport:
    """What is waited for. All values are JSON, because a trigger takes them.

    Attributes:
        cluster: its name.
        store: the root of the store.
        fail_on: name of the severity from which a failure keeps a report from being clean.
        min_coverage: share of the asked reads, 0 to 1, that must have been answered.
        max_age_s: seconds since the end of the audit after which its report says nothing.
    """

    cluster: str
    store: str
    fail_on: str
    min_coverage: float
    max_age_s: float

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return asdict(self)

    def find(self, now: datetime | None = None) -> dict[str, Any] | None:
        """Return the summary of the last report if it is clean, else None, and log why not.

        Raises:
            UsageError: no such severity, or the root is no place for a store.
        """
        try:
            document = self._last_report()
        except (StoreError, SnapshotError) as error:  # the next audit, or the next try, may mend it
            log.warning("%s: the last report cannot be read: %s", self.cluster, our_line(error, _LONGEST))
            return None
        if document is None:
            log.info("%s: there is no report in %s", self.cluster, self.store)
            return None
        if document.finished_at is None:
            log.info("%s: the last report, %s, has no time", self.cluster, document.snapshot_id)
            return None
        age = (now or datetime.now(UTC)) - datetime.fromisoformat(document.finished_at)
        if age < -SKEW:
            log.warning("%s: the last report, %s, has a time in the future", self.cluster, document.snapshot_id)
            return None
        if age > timedelta(seconds=self.max_age_s):
            log.info("%s: the last report, %s, is too old", self.cluster, document.snapshot_id)
            return None
        code, sentence = evaluate_gate(document, self.fail_on, self.min_coverage)
        log.info("%s: %s: %s", self.cluster, document.snapshot_id, sentence)
        return assets.event_summary(document) if code == CLEAN else None

    def _last_report(self) -> Report | None:
        store_connection.use()
        history = History(self.store)
        for snapshot_id in history.snapshots().get(self.cluster, ()):
            if is_of_future(snapshot_id):  # else nothing would be newer, ever
                log.warning("%s: snapshot %s has a time in the future and does not count", self.cluster, snapshot_id)
                continue
            document = history.report(snapshot_id)
            if document is not None:  # else it is being judged, or its audit failed
                return document
        return None
