"""Brokers and controllers that recover their logs before they answer, by the counts in their own logs.

These lines have times of their own: one audit knows how long it takes. Of several log dirs the one that was counted last decides.
A recovery whose log is silent is none of these.
"""

from collections.abc import Iterator

from kafka_audit.cluster.held_up_by import waiting_for
from kafka_audit.cluster.processes import Process, Processes, ProcessState
from kafka_audit.cluster.view import ClusterView
from kafka_audit.progress.rule import Observed


def recoveries(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each node that recovers its logs."""
    for node, process in view.derived(Processes).all.items():
        if process.state is ProcessState.RECOVERING and process.begun is not None:
            party = view.party(node)
            done, whole = process.done or (None, None)
            yield Observed(
                kind="recovery",
                parties=(party.replace(" ", "/"),),
                what=f"recovery of the logs of {party}",
                now=done,
                sample=0,
                earlier_ms=_begun_ms(process),
                moved=bool(done),
                left=None if whole is None or done is None else whole - done,
                left_before=whole,
                whole=whole,
                unit="logs",
                needs=f"a line of {party}'s log with how many logs are loaded",
                clients_wait=bool(waiting_for(view, node)),
            )


def _begun_ms(process: Process) -> int | None:
    """Return when it started; the zone of the host need not be known, as its last line was just written."""
    first, last = process.begun, process.lines[-1]
    if first is None or first.local_ms is None or last.local_ms is None:
        return None
    return last.read_ms - (last.local_ms - first.local_ms)
