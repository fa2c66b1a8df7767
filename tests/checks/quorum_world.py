"""The rows of a world that tell of KRaft's controllers; keys of `world.py` beside the others:

quorum:      {leader, epoch, high_watermark, voters, observers}: nodes with the seconds for which each is behind (`never` for none
             under this leader). `says` by observer (a broker id, or `c1:9093` for a controller): what differs from that in its
             answer, `unasked` for none; who has an epoch of null names a leader alone. `times: false` as before Kafka 3.3.
             `directories`: of a dynamic quorum, {voters: {node: id}, observers: {node: id}}. `addresses` by voter: since 3.9.
registered:  ids of controllers that the metadata log has as registered.
fenced:      fenced broker ids by the broker that says so, or by the address where one answers whose id is unknown.
controllers: by address, how far the worker got: {node, layer, outcome, error, needs, addresses: of the name}.
controllers_from: by broker id and address, how far a probe from the broker's host got: {layer, outcome, error, needs}; {} for ok.
zookeeper_from: the same by ZooKeeper server.
voters:      by origin (`worker`, or the id of a controller) and voter, how far a probe of its address got: as `controllers_from`.
controller_configs: by node id, what a controller reports by DescribeConfigs; `hidden` for null.
migration:   columns of the table.
features:    by name [lowest, highest, finalized] level, null for none; by broker id (text) what differs from that.
applied:     by broker id, the offset of the metadata log that it has applied, as the answer with the features has it; else 50;
             null if it reports none, a list of what it has applied in either sample.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_audit.model.tables import (
    BrokerFeature,
    ControllerConfig,
    ControllerProbe,
    ControllerProbeFromBroker,
    FencedBroker,
    Migration,
    QuorumReplica,
    QuorumView,
    QuorumVoter,
    RegisteredController,
    Row,
    VoterProbe,
    ZookeeperProbe,
)
from told_failures import with_failure

World = Mapping[str, Any]
NOW = 1_700_000_100_000


def quorum_rows(sample: int, world: World) -> Iterator[Row]:
    """Yield what one look reads."""
    if world["quorum"]:
        yield from _quorum(sample, world)
    for asked, fenced in world["fenced"].items():
        at = {"observer": f"broker@{asked}", "broker_id": -1}
        reporter = {"observer": f"broker:{asked}", "broker_id": asked} if isinstance(asked, int) else at
        yield from (FencedBroker(sample=sample, **reporter, fenced_id=broker) for broker in fenced)
    yield from (RegisteredController(sample=sample, observer="controller@c:9093", node_id=node) for node in world["registered"])
    for address, controller in world["controllers"].items():
        row = {"node_id": None, "layer": "api", "outcome": "ok", "error": None, "needs": None}
        row |= {"node_id" if key == "node" else key: value for key, value in controller.items()}
        yield ControllerProbe(sample=sample, address=address, **_probed(row))
    for table, key, last in ((ControllerProbeFromBroker, "controllers_from", "api"), (ZookeeperProbe, "zookeeper_from", "tcp")):
        for broker, addresses in world[key].items():
            for address, probe in addresses.items():
                columns = {"layer": last, "outcome": "ok", "error": None, "needs": None} | probe
                yield table(sample=sample, vantage="hosts", from_broker=broker, address=address, **_probed(columns))
    for origin, probes in world["voters"].items():
        for voter, probe in probes.items():
            columns = {"layer": "api", "outcome": "ok", "error": None, "needs": None} | probe
            place = (
                {"vantage": "worker", "from_controller": None}
                if origin == "worker"
                else {"vantage": "c", "from_controller": origin}
            )
            address = world["quorum"]["addresses"][voter]
            yield VoterProbe(sample=sample, **place, voter_id=voter, address=address, **_probed(columns))
    if world["migration"]:
        row = {"begun": True, "kraft_controller_id": None, "kraft_controller_epoch": None}
        row |= {"metadata_offset": None, "metadata_epoch": None}
        yield Migration(sample=sample, **(row | world["migration"]))


def _probed(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the columns of a probe."""
    resolved = {"addresses": tuple(columns["addresses"])} if "addresses" in columns else {}
    return {**with_failure(columns), **resolved}


def feature_rows(world: World) -> Iterator[Row]:
    """Yield what brokers report of features."""
    usual = {name: feature for name, feature in world["features"].items() if isinstance(feature, list)}
    for broker in world["brokers"]:
        for name, (lowest, highest, finalized) in (usual | world["features"].get(str(broker), {})).items():
            levels = {"min_supported": lowest, "max_supported": highest, "finalized": finalized}
            applied = world["applied"].get(broker, 50)
            for epoch in applied if isinstance(applied, list) else [applied]:
                row = {"feature": name, **levels, "finalized_epoch": epoch}
                yield BrokerFeature(observer=f"broker:{broker}", broker_id=broker, **row)


def controller_config_rows(world: World) -> Iterator[Row]:
    """Yield what controllers report of their settings."""
    for node, keys in world["controller_configs"].items():
        for key, value in keys.items():
            hidden = value == "hidden"
            row = {"value": None if hidden else value, "source": 4, "sensitive": hidden}
            yield ControllerConfig(observer=f"controller@c{node}:9093", node_id=node, key=key, **row)


def _quorum(sample: int, world: World) -> Iterator[Row]:
    usual = {key: value for key, value in world["quorum"].items() if key != "says"}
    says = {broker: {} for broker in world["brokers"]} | world["quorum"].get("says", {})
    for asked, differs in says.items():
        if differs == "unasked":
            continue
        quorum = usual | differs
        node = asked if isinstance(asked, int) else quorum.get("node")
        observer = f"broker:{asked}" if isinstance(asked, int) else f"controller@{asked}"
        head = {"sample": sample, "observer": observer}
        epoch = quorum["epoch"]
        high = None if epoch is None else quorum["high_watermark"]
        yield QuorumView(**head, node_id=node, leader_id=quorum["leader"], leader_epoch=epoch, high_watermark=high)
        directories = quorum.get("directories") or {}
        for voter, address in (quorum.get("addresses") or {}).items():
            host, _, port = address.rpartition(":")
            yield QuorumVoter(**head, voter_id=voter, listener="CONTROLLER", host=host, port=int(port))
        for voter, kind in ((True, "voters"), (False, "observers")):
            nodes = quorum[kind]
            for one, behind in nodes.items() if epoch is not None else ():
                never = behind == "never" or not quorum.get("times", True)
                caught = None if never else NOW + 6000 * sample - 1000 * behind
                end = None if behind == "never" else quorum["high_watermark"] - 2 * behind
                row = {"log_end_offset": end, "last_fetch_ms": caught, "last_caught_up_ms": caught}
                row["directory_id"] = directories.get(kind, {}).get(one)
                yield QuorumReplica(**head, replica_id=one, voter=voter, **row)
