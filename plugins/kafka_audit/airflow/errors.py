"""How a gate fails."""

from kafka_audit.airflow.moved import AirflowFailException
from kafka_audit.model.text import our_line

HEADLINE_CHARS = 500


class GateFailed(AirflowFailException):
    """A cluster did not pass, or was not audited; never retried, because the same report would fail again.

    Attributes:
        cluster: its name in the cluster file.
        headline: one line.
    """

    def __init__(self, *, cluster: str, headline: str, audited: bool = True) -> None:
        """Take the parts; the message is `cluster: headline`."""
        text = headline if audited else f"not audited: {headline}"
        super().__init__(f"{cluster}: {our_line(text, HEADLINE_CHARS)}")
        self.cluster = cluster
        self.headline = headline
