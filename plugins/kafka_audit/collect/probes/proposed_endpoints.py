"""Trials: how far one gets to addresses that no broker advertises yet, from this worker and from command vantages."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

from kafka_audit.clients.budget import Budget, out_of_time
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import Target, flat, registered_targets
from kafka_audit.collect.probes import command_vantages, endpoint_probes
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.tables import Probe, RegisteredEndpoint, Row

_LANES = 32
_Job = tuple[Callable[[], tuple[Row, ...]], Callable[[ReadError], tuple[Row, ...]]]
"""What to ask on a lane, and the rows for when it gave none."""


def probe_proposed_endpoints(
    cluster: Cluster,
    endpoints: Iterable[RegisteredEndpoint],
    names: Collection[str],
    brokers: Iterable[int],
    secrets: Mapping[str, str] = os.environ,
) -> tuple[Probe, ...]:
    """Probe addresses, and return a row for each layer of each probe.

    Args:
        cluster: an entry of the cluster file; its `limits` bound every probe; `reach` and skipped listeners apply.
        endpoints: what brokers are to advertise.
        names: the command vantages to start from, besides this worker.
        brokers: ids of the brokers, on whose hosts vantages with role broker start.
        secrets: where variables named by `password_env` are looked up; only TLS files are used, without a login.
    """
    targets = flat(registered_targets(endpoints, cluster))
    if not targets:
        return ()
    logins, budget = ClusterLogins(cluster, secrets), Budget(cluster)
    seconds = cluster.limits.read_s
    runs = [
        vantage_run
        for vantage_run in command_vantages.runs(cluster, 0, targets, sorted(brokers), logins, budget)
        if vantage_run.vantage in names
    ]
    jobs: list[_Job] = [
        (partial(_from_here, target, seconds, logins, budget), partial(_unanswered, target)) for target in targets
    ]
    jobs += [(vantage_run.rows, vantage_run.unanswered) for vantage_run in runs]
    try:
        answers = side_by_side([ask for ask, _ in jobs], _LANES, budget.deadline)
    finally:
        budget.close()
    rows: list[Row] = []
    for answer, (_, without) in zip(answers, jobs, strict=True):
        rows += without(answer or out_of_time()) if answer is None or isinstance(answer, ReadError) else answer
    return tuple(row for row in rows if isinstance(row, Probe))


def _from_here(target: Target, seconds: float, logins: ClusterLogins, budget: Budget) -> tuple[Row, ...]:
    return endpoint_probes.worker_rows(
        0, target, endpoint_probes.probe_endpoint(target, endpoint_probes.layers(target), seconds, logins, budget), logins
    )


def _unanswered(target: Target, error: ReadError) -> tuple[Row, ...]:
    return endpoint_probes.unknown_probe_rows(0, endpoint_probes.FROM_WORKER, [target], error)
