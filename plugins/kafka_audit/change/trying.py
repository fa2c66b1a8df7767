"""Try what a plan would let brokers advertise, before any of them does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_audit.change import addresses
from kafka_audit.change.plan import Plan
from kafka_audit.checks import catalogue
from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.collect import trials
from kafka_audit.lint import files
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.tables import Probe, RegisteredEndpoint, Snapshot
from kafka_audit.model.text import counted


@dataclass(frozen=True, kw_only=True)
class Tried:
    """Addresses that are not advertised yet, and the walks to them."""

    endpoints: tuple[RegisteredEndpoint, ...] = ()
    probes: tuple[Probe, ...] = ()


def try_out(plan: Plan, snapshot: Snapshot, cluster: Cluster, secrets: Mapping[str, str], say: Callable[[str], None]) -> Tried:
    """Walk to every address that is new, from this worker and from the vantages of the plan.

    Raises:
        UsageError: a proposed file is not there.
    """
    told = addresses.endpoints(addresses.parse(plan.advertised), snapshot)
    proposed = {(one.broker_id, one.listener): one for one in (*files.advertised(plan.proposed, catalogue()), *told)}
    found = addresses.new(proposed.values(), snapshot)
    if not found:
        return Tried()
    say(f"trying {counted(len(found), 'proposed address', 'proposed addresses')} …")
    return Tried(endpoints=found, probes=trials.walk(cluster, found, plan.vantages, InterBroker(snapshot).brokers, secrets))
