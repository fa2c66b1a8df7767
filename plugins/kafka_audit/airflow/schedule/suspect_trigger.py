# ruff: noqa: PLC0415 -- Airflow imports this file with the DAG, every 30 seconds; what the loop needs is imported when it runs
"""The trigger that watches a cluster in Airflow's triggerer, and fires when the cluster should be audited."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from kafka_audit import settings
from kafka_audit.airflow import environment
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError

_FILE_S = 30.0  # to read the cluster file


class ClusterSuspectTrigger(BaseEventTrigger):
    """Fires with what is suspected, as `kafka_audit.watch.audit_requests` yields it.

    All triggers of one cluster share one watch. On the triggerer's loop it only waits: what a cluster sends is read, decoded and
    compared on threads. Its settings are those of the triggerer's environment; what it remembers is in the store, so a triggerer
    that restarts continues.
    """

    def __init__(self, cluster: str) -> None:
        """Take the cluster's name in the cluster file."""
        super().__init__()  # type: ignore[no-untyped-call] # Airflow's own
        self.cluster = cluster

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and what it takes."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {"cluster": self.cluster}

    def shared_stream_key(self) -> tuple[str, str]:
        """Return the name of the watch."""
        return "kafka_audit", self.cluster

    @classmethod
    async def open_shared_stream(cls, kwargs: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Watch the cluster; yields a document for each audit that is due, and never ends."""
        # The client libraries take a second to import, for which the triggerer's loop must not stand still.
        await asyncio.to_thread(importlib.import_module, "kafka_audit.watch.audit_requests")

        from kafka_audit.clients.parallel import in_thread
        from kafka_audit.store.watch_files import WatchFiles
        from kafka_audit.watch.audit_requests import WatchSettings, audit_requests
        from kafka_audit.watch.judgement import Patience

        name: str = kwargs["cluster"]
        wanted = WatchSettings(
            every_s=environment.watch_every() or environment.WATCH_EVERY_S,
            patience=Patience(grace_s=environment.watch_grace()),
            distance_s=environment.watch_distance(),
        )
        # Not in the loop: a store that is a URL looks up its connection.
        files = await in_thread(lambda: WatchFiles(environment.store_root()), _FILE_S)
        async with aclosing(audit_requests(name, lambda: _described(name), files, wanted)) as requests:
            async for request in requests:
                yield request

    async def filter_shared_stream(self, shared_stream: AsyncIterator[dict[str, Any]]) -> AsyncIterator[TriggerEvent]:
        """Yield an event for each document."""
        async for request in shared_stream:
            yield TriggerEvent(request)  # type: ignore[no-untyped-call] # see above

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield the same from a loop of its own, where Airflow shares none."""
        async for request in self.open_shared_stream({"cluster": self.cluster}):
            yield TriggerEvent(request)  # type: ignore[no-untyped-call] # see above


async def _described(name: str) -> tuple[Cluster, Mapping[str, str]]:
    """Return a cluster and its passwords; raises UsageError."""
    from kafka_audit.airflow.connections import cluster_connection
    from kafka_audit.clients.parallel import in_thread
    from kafka_audit.clients.read_error import ReadError

    path = environment.clusters_file()
    try:
        known = await in_thread(lambda: settings.load(path), _FILE_S)
    except ReadError as error:
        msg = f"{path} cannot be read: {error}"
        raise UsageError(msg) from None
    if name not in known:
        msg = f"{path} has no cluster {name!r}"
        raise UsageError(msg)
    return await cluster_connection.with_airflow_connection_async(known[name])
