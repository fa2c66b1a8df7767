"""What a gate before a change judges besides the snapshot; never stored."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class PlannedNode(Row):
    """A node id that the plan gives to a KRaft controller."""

    node_id: int


@dataclass(frozen=True, kw_only=True)
class Verdict(Row):
    """What an ordinary check said of a resource of the same snapshot; PASS is left out but where a check said nothing else."""

    code: str
    resource: str
    status: str  # as in findings.json
    error: str | None = None  # why it is not known
    needs: str | None = None
