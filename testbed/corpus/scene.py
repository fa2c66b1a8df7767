"""A cluster of the corpus: how a preset becomes one, and what actions know of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from testbed import presets
from testbed.acls import auditor_grants
from testbed.audit_files import controller_files, controller_logs
from testbed.bed import Bed
from testbed.brokers import BaseCluster, Options
from testbed.cluster import Cluster
from testbed.corpus.catalogue import DYNAMIC, VERSIONS, Preset
from testbed.corpus.tools import Tools
from testbed.errors import BedError
from testbed.kraft import FIRST_CONTROLLER, KraftCluster
from testbed.population import Population, populate
from testbed.population.contents import FEW, WHOLE
from testbed.security import ADMIN, AUDITOR, Listener, Security
from testbed.servers import Server
from testbed.tiers import tier_properties

NAME = "corpus"
"""The cluster's name in clusters.yaml."""
CONTENTS = {"whole": WHOLE, "few": FEW}
SASL_SSL = Listener(protocol="SASL_SSL", mechanisms=("SCRAM-SHA-512",))
SECURITIES: dict[str, Callable[[], Security]] = {
    "ssl": lambda: Security(listeners=(presets.SSL,), inter_broker=presets.SSL.label),
    "old_authority": lambda: Security(listeners=(presets.SSL,), inter_broker=presets.SSL.label, authority_days=20),
    "sasl_ssl": lambda: Security(listeners=(SASL_SSL,), inter_broker=SASL_SSL.label, authorizer=True),
    "plain_login": lambda: Security(listeners=(presets.PLAIN,), inter_broker=presets.PLAIN.label),
    "tls_ready": lambda: Security(
        listeners=(Listener(), replace(presets.SSL, port=Listener().port + 1)),
        inter_broker=Listener().label,
        asked=Listener().label,
    ),
    "strimzi": lambda: Security(
        listeners=(Listener(name="PLAIN-9092"), Listener(name="REPLICATION-9091", protocol="SSL", port=9091)),
        inter_broker="REPLICATION-9091",
        asked="PLAIN-9092",
        client_auth="required",
    ),
    "msk": lambda: Security(
        listeners=(
            Listener(name="CLIENT_SECURE", protocol="SSL", port=9094),
            Listener(name="CLIENT_SASL_SCRAM", protocol="SASL_SSL", port=9096, mechanisms=("SCRAM-SHA-512",)),
            Listener(name="REPLICATION_SECURE", protocol="SSL", port=9095),
        ),
        inter_broker="REPLICATION_SECURE",
        asked="CLIENT_SASL_SCRAM",
    ),
    "client_certificates": lambda: Security(
        listeners=(presets.SSL,),
        inter_broker=presets.SSL.label,
        client_auth="required",
        authorizer=True,
        super_users=("User:admin", *(f"User:broker-{broker}" for broker in range(presets.BROKERS))),
    ),
    "zookeeper_login": lambda: Security(
        listeners=(presets.SCRAM,), inter_broker=presets.SCRAM.label, authorizer=True, zookeeper="sasl"
    ),
    "zookeeper_offers_login": lambda: Security(
        listeners=(presets.SCRAM,), inter_broker=presets.SCRAM.label, authorizer=True, zookeeper="offered"
    ),
    "login": lambda: Security(
        listeners=(presets.SCRAM,), inter_broker=presets.SCRAM.label, authorizer=True, controller_login=True
    ),
    "mutual_certificates": lambda: Security(
        listeners=(presets.SSL,),
        inter_broker=presets.SSL.label,
        client_auth="required",
        authorizer=True,
        super_users=tuple(
            f"User:CN={name},O=bed"
            for name in (
                *(ADMIN, AUDITOR),
                *(f"broker-{broker}" for broker in range(presets.BROKERS)),
                *(f"controller-{FIRST_CONTROLLER + node}" for node in range(3)),
            )
        ),
        controller_tls=True,
    ),
    "login_over_tls": lambda: Security(
        listeners=(SASL_SSL,), inter_broker=SASL_SSL.label, authorizer=True, controller_login=True, controller_tls=True
    ),
    "controller_certificates": lambda: Security(controller_tls=True),
    "internal_login": lambda: Security(
        listeners=(replace(presets.SCRAM, name="CLIENT"), replace(presets.SCRAM, name="INTERNAL", port=Listener().port + 2)),
        inter_broker="INTERNAL",
        asked="CLIENT",
        authorizer=True,
        controller_login=True,
    ),
    "two_listeners": lambda: Security(
        listeners=(Listener(), replace(presets.SCRAM, port=Listener().port + 1)), inter_broker=presets.SCRAM.label
    ),
}


@dataclass(kw_only=True)
class Scene:
    """A running cluster, and what was done to it.

    Attributes:
        bed: where it runs.
        cluster: itself.
        version: a key of `catalogue.VERSIONS`.
        tools: Kafka's command line tools.
        entry: the cluster's entry in clusters.yaml.
        undo: what takes back what was done, newest last.
        report: the newest report.
        look: takes a snapshot, with which the next audit compares.
        ran: commands that were run as findings print them.
        followed: repairs that findings describe in words, and the bed carried out.
        notes: what actions remember for others.
        population: what lives in it, where the preset asks for that.
        beside: servers beside it that must not end, as MirrorMaker.
    """

    bed: Bed
    cluster: BaseCluster
    version: str
    tools: Tools
    entry: dict[str, Any]
    undo: list[Callable[[], object]] = field(default_factory=list)
    report: Mapping[str, Any] = field(default_factory=dict)
    look: Callable[[], object] = bool
    ran: list[str] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    population: Population | None = None
    beside: list[Server] = field(default_factory=list)

    def demand_loads(self) -> None:
        """Hold that what was started in the cluster, and beside it, still runs.

        Raises:
            BedError: it ended.
        """
        if self.population is not None and not self.population.lives:
            message = f"the members of groups and the transactions ended: {self.population.complaint()}"
            raise BedError(message)
        for server in self.beside:
            if not server.is_running:
                ended = "ended"
                raise server.failed(ended)

    @property
    def zookeeper(self) -> Cluster:
        """The cluster as one with ZooKeeper.

        Raises:
            BedError: it has none.
        """
        if not isinstance(self.cluster, Cluster):
            message = "this cluster has no ZooKeeper"
            raise BedError(message)
        return self.cluster

    @property
    def kraft(self) -> KraftCluster:
        """The cluster as one without ZooKeeper.

        Raises:
            BedError: it has one.
        """
        if isinstance(self.cluster, Cluster):
            message = "this cluster has ZooKeeper"
            raise BedError(message)
        return self.cluster  # type: ignore[return-value]


def started(bed: Bed, preset: Preset, version: str) -> Scene:
    """Start the cluster of a preset, create its topics, populate it, and wait until it is whole."""
    release, zookeeper = VERSIONS[version]
    options = _options(preset, zookeeper=zookeeper)
    if preset.tiered:
        options["properties"] = {**tier_properties(release, bed.folder), **(options["properties"] or {})}
    security, settle = options["security"], options["settle"]
    cluster: BaseCluster
    if zookeeper:
        cluster = bed.cluster(release, preset.brokers, **options)
        if security and security.authorizer and preset.population is None:
            cluster.put_acls(auditor_grants())
    else:
        options |= {"dynamic": version in DYNAMIC, "named_controllers": preset.named_controllers}
        cluster = bed.kraft(release, preset.brokers, controllers=preset.controllers, **options)
        for node in preset.observers:
            cluster.start_observer(node)
    for name, assignment in preset.topics.items():
        cluster.create_topic(name, assignment)
    if settle is None or list(settle):
        cluster.await_settled(settle)
    entry = yaml.safe_load(cluster.clusters_yaml(NAME))["clusters"][NAME]
    if preset.controller_files and not zookeeper:
        entry["properties"] += controller_files(cluster)
        entry["logs"]["paths"] += controller_logs(cluster)
    entry = {key: value for key, value in (entry | dict(preset.audit)).items() if value is not None}
    population = populate(bed, cluster, CONTENTS[preset.population]) if preset.population else None
    return Scene(bed=bed, cluster=cluster, version=version, tools=Tools(bed, cluster), entry=entry, population=population)


def _options(preset: Preset, *, zookeeper: bool) -> Options:
    """Return what a preset gives the bed: its security, with what belongs to that, and its own properties over it."""
    if preset.security in SECURITIES:
        options: Options = {"security": SECURITIES[preset.security]()}
    else:
        named = presets.named(preset.security) if preset.security else presets.Preset()
        options = named
    security = options.get("security")
    if security is not None and not zookeeper and preset.population is None:
        # Without a population the bed writes ACLs into ZooKeeper only; without either the auditor is a super user.
        security = replace(security, super_users=(*security.super_users, f"User:{AUDITOR}"))
    return {
        "security": security,
        "properties": {**(options.get("properties") or {}), **preset.properties},
        "per_broker": {**(options.get("per_broker") or {}), **preset.per_broker},
        "settle": options.get("settle"),
        "controller": options.get("controller"),
    }
