"""Input of a migration gate or of lint in addition to the snapshot; never stored."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class PlannedNode(Row, stored=False):
    """A node id that the plan gives to a KRaft controller."""

    node_id: int


@dataclass(frozen=True, kw_only=True)
class PlannedUpgrade(Row, stored=False):
    """A rolling upgrade that is planned."""

    version: str | None  # the release that the brokers are to run; None: the plan does not name it
    oldest_client: str | None  # the oldest Kafka release whose clients connect, as the planner reports it; None: unknown


@dataclass(frozen=True, kw_only=True)
class Verdict(Row, stored=False):
    """The result of an ordinary check for a resource of the same snapshot; PASS only if the check has no other result."""

    code: str
    resource: str
    status: str  # as in findings.json
    error: str | None = None  # the reason if the status is UNKNOWN
    needs: str | None = None


@dataclass(frozen=True, kw_only=True)
class FileRelease(Row, stored=False):
    """The release by whose rules lint judges the file of a node."""

    node_id: int
    version: str  # one of `configuration.definitions.VERSIONS`
