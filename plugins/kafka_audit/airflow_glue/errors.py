"""How a gate fails."""

from airflow.sdk.exceptions import AirflowFailException

from kafka_audit.model.text import clean

HEADLINE_CHARS = 500


class GateFailed(AirflowFailException):
    """A cluster did not pass, or was not audited; never retried, because the same report would fail again.

    Attributes:
        cluster: its name in the cluster file.
        headline: one line.
        lifecycle: "new" or "ongoing", "" for a cluster that was not audited.
        text: the incident as on a terminal, plain; empty where there is no report.
        report: where the report lies; empty where there is none.
    """

    def __init__(self, *, cluster: str, headline: str, lifecycle: str = "", text: str = "", report: str = "") -> None:
        """Take the parts; the message is `cluster: headline`."""
        super().__init__(f"{cluster}: {clean(headline, HEADLINE_CHARS)}")
        self.cluster = cluster
        self.headline = headline
        self.lifecycle = lifecycle
        self.text = text
        self.report = report
