"""A cluster in a few lines of YAML, as the snapshot that auditing it would give.

`brokers`, `topics` and `zookeeper` are what ZooKeeper has. Views, reads, probes and identities follow from it, as if everything
worked; a case patches them where something does not:

    brokers:    by id {listeners: {NAME: "PROTOCOL://host:port"}, rack}; `host:port` alone is that of PLAINTEXT.
    topics:     by name and number {replicas}: led by the first, all in sync, unless the partition says otherwise.
    views:      by broker id, `ID/LISTENER`, or the address of an unregistered broker. `answers: false` for none, with `error` and
                `needs` of its reads; `empty` for a view without brokers, topics and controller; `brokers` and `topics` patch what
                is listed.
    reads:      {observer, operation, target, error or reason, needs} of reads that failed; a reason is a member of ReadFailure.
    probes:     {vantage, role, from, to, listener, via, resolved, layer, outcome, error, reason, needs}: it ends at `layer`;
                without it, it is open. Vantages other than the worker have no paths but those named; `from` is of `brokers`.
                `ms` is how long each layer takes. `packets` is what that layer reports; without it, it was not probed.
                `each` has what was found at each address of the name: {layer, reason, answered_by}.
    slow:       by broker id, milliseconds of reads by operation.
    identities: {to, answered_by, kafka_cluster_id}: who answers at a broker's endpoints; `asked: false` for no row.

    ordinary:   by kind of progress, minutes in which its measure may stay the same, as the cluster file has them.
    reassigning: {topic, partition, adding, removing}; a topic's `config` is what it sets for itself.

    planned_nodes, planned_upgrade ({version, oldest_client}), verdicts: what a gate before a change has besides.

    configs:    what running brokers report, by key or by broker id and key; `hidden` for null. A broker whose file sets something
                else than the base reports that, too, as it does from its start on, unless the case says otherwise.
    config_sources: Kafka's number of who set a key of `configs`, where that is neither 4 (the file) nor 5 (nobody).

Keys on who may do what are told in `secured_world.py`, those of KRaft's controllers in `quorum_world.py`. Other keys than those
that `words.py` lists for each part are errors.

In a patch `absent` removes a key, and `none` empties a mapping. A case is laid over the base and its file's `world`: `now` for
the snapshot, `before` on top of that for the look before the newest (`samples: 1` for no such look), `previous` for the previous
snapshot. With `files_alone: true` there is nothing but `properties` and `logins`, as where files are linted.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from functools import reduce
from typing import Any

from checks.ensemble_world import ensemble
from checks.quorum_world import controller_config_rows, feature_rows, quorum_rows
from checks.secured_world import files, secured
from checks.storage_world import reads_of_disks, stored
from checks.words import FAILURE, demand_words
from kafka_audit.collect.probes.reported_values import reported_values
from kafka_audit.model.tables import (
    AddressProbe,
    BrokerConfig,
    BrokerIdentity,
    BrokerView,
    OrdinaryTime,
    PlannedNode,
    PlannedUpgrade,
    Probe,
    Reassignment,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    TopicConfig,
    Verdict,
    ViewBroker,
    ViewPartition,
    ViewTopic,
)
from told_failures import with_failure

World = Mapping[str, Any]
LAYERED = ("world", "now", "before", "previous")
"""The keys of a case that hold worlds."""
HOUR_MS = 3_600_000
"""How long before a snapshot its previous one was taken, where a case does not say when."""
CLUSTER = "prod"
"""What the cluster file calls each of these clusters."""
LISTING = "ListPartitionReassignments"
_HIDDEN = ("super.users", "allow.everyone.if.no.acl.found")
"""Keys that Kafka's own definitions do not have: DescribeConfigs reports them as null where they are set."""
LAYERS = ("dns", "tcp", "api", "identity")
SETS = ("ids", "controller", "controller_epoch", "cluster/id", "topics", "topics/*/partitions/*/state")
SETS = (*SETS, "config/topics", "admin/reassign_partitions")
ZOOKEEPER_READS = {name: f"zookeeper /{'brokers/' if name.startswith(('ids', 'topics')) else ''}{name}" for name in SETS}


def merged(base: Any, patch: Any) -> Any:
    """Lay a patch over a description: mappings key by key, anything else replaces.

    Where there is nothing yet to take away from, `absent` and `none` stay for the next time: views are patched after they were
    derived.
    """
    if patch == "none" and isinstance(base, dict):
        return {}
    if not isinstance(base, dict) or not isinstance(patch, dict):
        return patch
    laid = dict(base)
    for key, value in patch.items():
        if value == "absent" and key in base:
            del laid[key]
        elif key in base or not isinstance(value, dict):
            laid[key] = merged(base.get(key), value)
        else:
            laid[key] = merged({}, value)
    return laid


def _settled(view: Any) -> Any:
    """Return a view without what was to be taken away from it and is not there."""
    if not isinstance(view, dict):  # not Mapping, whose check takes most of the time that worlds take
        return {} if view == "none" else view
    return {key: _settled(value) for key, value in view.items() if value != "absent"}


def _listener(broker: Any) -> Any:
    return {"listeners": {"PLAINTEXT": f"PLAINTEXT://{broker}"}} if isinstance(broker, str) and ":" in broker else broker


def _empty(view: Any) -> Any:
    return {"brokers": "none", "topics": "none", "controller_id": -1} if view == "empty" else view


def _laid(base: World, patch: World) -> World:
    """Lay a patch over a world, with its short forms written out."""
    written = dict(patch)
    for part, form in (("brokers", _listener), ("views", _empty)):
        if isinstance(patch.get(part), dict):
            written[part] = {key: form(value) for key, value in patch[part].items()}
    return merged(base, written)


def snapshots(base: World, name: str, case: World) -> tuple[Snapshot, Snapshot | None]:
    """Return a case's snapshot, and its previous one where the case has `previous`; raises ValueError naming an unknown key."""
    for part in LAYERED:
        demand_words(f"{name}: {part}", case.get(part, {}), base)
    usual = base["configs"]
    base = _laid(base, case.get("world", {}))
    now = _laid(base, case.get("now", {}))
    if case.get("files_alone"):
        rows = (
            SnapshotInfo(**_tuples(now["info"]), samples=0),
            *files(now | {"brokers": {}, "dynamic": {}, "scram": {}, "quotas": [], "limits": []}),
        )
        return Snapshot(snapshot_id=name, cluster=CLUSTER, cluster_id=f"id of {name}", rows=rows), None
    worlds = [_laid(now, case.get("before", {})), now][2 - case.get("samples", 2) :]
    current = _snapshot(name, [_whole(world, usual) for world in worlds], case.get("sample_times", {}))
    if "previous" not in case:
        return current, None
    earlier = _whole(_laid(base, case["previous"]), usual)
    before_ms = 0 if "started_ms" in (case["previous"] or {}).get("info", ()) else HOUR_MS
    return current, _snapshot(f"{name}-previous", [earlier], {}, before_ms)


def _whole(world: World, usual: World) -> World:
    """Return the world with what follows from the rest of it.

    States of partitions, and what brokers that started with their files report: `usual` says what no case has set itself.
    """
    topics = {
        topic: held | {"partitions": {number: _state(state) for number, state in held["partitions"].items()}}
        for topic, held in world["topics"].items()
    }
    configs = dict(world["configs"])
    for broker in {*world["properties"]} & {*world["brokers"]} if configs else ():
        own = configs.get(broker, {})
        reported = {key: "hidden" if key in _HIDDEN else value for key, value in world["properties"][broker].items()}
        new = {key: value for key, value in reported.items() if key not in own and configs.get(key) == usual.get(key)}
        configs[broker] = {**new, **own}
    return {**world, "topics": topics, "configs": configs}


def _state(told: World) -> World:
    replicas = told["replicas"]
    state = {"leader": replicas[0], "leader_epoch": 0, "controller_epoch": 3, "isr": sorted(replicas), "state_mzxid": 300}
    return state | told


def _snapshot(name: str, worlds: list[World], times: Mapping[int, World], before_ms: int = 0) -> Snapshot:
    """Return the snapshot of samples; `before_ms` is how long before what its worlds say it was taken."""
    rows: list[Row] = []
    if worlds:
        info = worlds[-1]["info"]
        info = info | {key: info[key] - before_ms for key in ("started_ms", "finished_ms")}
        rows += [SnapshotInfo(**_tuples(info), samples=len(worlds)), *_configs(worlds[-1]), *files(worlds[-1])]
        rows += [OrdinaryTime(kind=kind, minutes=minutes) for kind, minutes in worlds[-1]["ordinary"].items()]
        rows += [*feature_rows(worlds[-1]), *controller_config_rows(worlds[-1])]
    for number, world in enumerate(worlds, start=1):
        started = world["info"]["started_ms"] - before_ms + 6000 * number
        sample = {"sample": number, "started_ms": started, "finished_ms": started + 400, "reason": "first"} | times.get(
            number, {}
        )
        rows += [Sample(**sample), *_look(number, world)]
    return Snapshot(snapshot_id=name, cluster=CLUSTER, cluster_id=f"id of {name}", rows=_shared(rows))


def _shared(rows: list[Row]) -> tuple[Row, ...]:
    """Return each row once; registered topics and partitions that two samples have in common are one row, as in the store."""
    found: dict[Row, Row] = {}
    for row in rows:
        if not isinstance(row, RegisteredTopic | RegisteredPartition):
            found[row] = row
            continue
        content = replace(row, sample=0, last_sample=0)
        known = found.get(content)
        found[content] = replace(known, last_sample=row.sample) if known and known.last_sample == row.sample - 1 else row
        if known and known.last_sample < row.sample - 1:
            found[known] = known
    return tuple(found.values())


def _content_digest(topic: str, partitions: World) -> str | None:
    """Return the digest of a view that shows these states, as ZooKeeper's reader computes it."""
    shown = {
        number: {"error": 0, "offline_replicas": []} | {key: state[key] for key in ("leader", "leader_epoch", "replicas", "isr")}
        for number, state in partitions.items()
    }
    is_known = shown and all(value is not None for state in shown.values() for value in state.values())
    return _digest((topic, shown)) if is_known else None


def _look(sample: int, world: World) -> Iterator[Row]:
    observed = list(_observers(world))
    reads = _reads(sample, world, observed)
    yield from reads
    unread = {read.operation for read in reads if read.observer == "zookeeper" and read.outcome == "failed"}
    if world["zookeeper"]:
        yield from _registered(sample, world, unread)
    yield from ensemble(sample, world)
    yield from _views(sample, observed)
    yield from _probes(sample, world)
    yield from _identities(sample, world, observed)
    yield from _replication(sample, world, unread | {read.operation for read in reads if read.outcome == "failed"})
    yield from secured(sample, world, _endpoints(world))
    yield from stored(sample, world, {(read.observer, read.operation) for read in reads if read.outcome == "failed"})
    yield from quorum_rows(sample, world)
    yield from (PlannedNode(node_id=number) for number in world["planned_nodes"])
    if world["planned_upgrade"]:
        yield PlannedUpgrade(**{"version": None, "oldest_client": None} | world["planned_upgrade"])
    yield from (Verdict(**{"error": None, "needs": None} | one) for one in world["verdicts"])


def _registered(sample: int, world: World, unread: set[str]) -> Iterator[Row]:
    yield Registry(sample=sample, **world["zookeeper"])
    if ZOOKEEPER_READS["ids"] not in unread:
        for broker, held in world["brokers"].items():
            own = {"rack": None, "ephemeral_owner": broker + 7, "registered_ms": world["info"]["started_ms"] - 3_600_000}
            own |= {"czxid": 100 + 10 * broker, "mzxid": 100 + 10 * broker}
            told = {key: value for key, value in held.items() if key != "listeners"}
            yield RegisteredBroker(sample=sample, broker_id=broker, **(own | told))
        for broker, listener, protocol, host, port in _endpoints(world):
            yield RegisteredEndpoint(sample=sample, broker_id=broker, listener=listener, protocol=protocol, host=host, port=port)
    if ZOOKEEPER_READS["topics"] in unread:
        return
    for topic, held in world["topics"].items():
        told = {"topic_id": None, "czxid": 200, "mzxid": 200}
        told = {key: held.get(key, usual) for key, usual in told.items()}
        told["content_digest"] = _content_digest(topic, held["partitions"])
        yield RegisteredTopic(sample=sample, last_sample=sample, topic=topic, deleting=held.get("deleting", False), **told)
        for partition, state in held["partitions"].items():
            row = {"leader_recovery_state": 0} | _tuples(state)
            yield RegisteredPartition(sample=sample, last_sample=sample, topic=topic, partition=partition, **row)


def _replication(sample: int, world: World, unread: set[str]) -> Iterator[Row]:
    observer = "zookeeper" if world["info"]["mode"] == "zookeeper" else "broker:0"
    settings = ZOOKEEPER_READS["config/topics"] if observer == "zookeeper" else "DescribeConfigs TOPIC"
    for topic, held in world["topics"].items():
        for key, value in (held.get("config") or {}).items() if settings not in unread else ():
            yield TopicConfig(observer=observer, topic=topic, key=key, value=value)
    for one in world["reassigning"]:
        replicas = tuple(world["topics"][one["topic"]]["partitions"][one["partition"]]["replicas"])
        moves = {"adding": (), "removing": ()} | _tuples(one)
        yield Reassignment(sample=sample, observer=observer, replicas=replicas, **moves)


def _tuples(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


def _endpoints(world: World) -> list[tuple[int, str, str, str, int]]:
    found = []
    for broker, held in world["brokers"].items():
        for listener, address in held["listeners"].items():
            protocol, _, rest = address.partition("://")
            host, _, port = rest.rpartition(":")
            found.append((broker, listener, protocol, host, int(port)))
    return found


def _truth(world: World, listener: str) -> dict[str, Any]:
    """Return what a broker shows on a listener when it knows everything."""
    brokers = {}
    for broker, name, _, host, port in _endpoints(world):
        if name == listener or (listener == "bootstrap" and broker not in brokers):
            brokers[broker] = {"host": host, "port": port, "rack": world["brokers"][broker].get("rack")}
    topics = {}
    for topic, held in world["topics"].items():
        if held.get("deleting"):
            continue
        partitions = {}
        for number, state in held["partitions"].items():
            kept = {key: state[key] for key in ("leader", "leader_epoch", "replicas", "isr")}
            partitions[number] = {"error": 0 if state["leader"] != -1 else 5, "offline_replicas": [], **kept}
        topics[topic] = {"topic_id": held.get("topic_id"), "error": 0, "partitions": partitions}
    zookeeper = world["zookeeper"] or {"kafka_cluster_id": "base-cluster-id", "controller_id": 0}
    return {
        "answers": True,
        "kafka_cluster_id": zookeeper["kafka_cluster_id"],
        "controller_id": zookeeper["controller_id"],
        "metadata_version": 9,
        "brokers": brokers,
        "topics": topics,
    }


Observed = tuple[str, int, str, str, dict[str, Any]]


def _observers(world: World) -> Iterator[Observed]:
    """Yield observer, broker id, listener, address and view of everyone who was asked."""
    patches = world["views"]
    for broker, listener, _, host, port in _endpoints(world):
        view = _truth(world, listener)
        if laid := [patches[key] for key in (broker, f"{broker}/{listener}") if key in patches]:
            view = _settled(reduce(merged, laid, view))
        yield f"broker:{broker}", broker, listener, f"{host}:{port}", view
    for address, patch in patches.items():
        if isinstance(address, str) and "/" not in address:
            yield f"broker@{address}", -1, "bootstrap", address, _settled(merged(_truth(world, "bootstrap"), patch))


def _digest(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:12]


def _views(sample: int, observed: list[Observed]) -> Iterator[Row]:
    listed = set()
    for observer, broker, listener, address, view in observed:
        if not view["answers"]:
            continue
        brokers_digest, topics_digest = _digest(view["brokers"]), _digest(view["topics"])
        yield BrokerView(
            sample=sample,
            observer=observer,
            broker_id=broker,
            listener=listener,
            address=address,
            kafka_cluster_id=view["kafka_cluster_id"],
            controller_id=view["controller_id"],
            brokers_listed=len(view["brokers"]),
            topics_listed=len(view["topics"]),
            brokers_digest=brokers_digest,
            topics_digest=topics_digest,
            metadata_version=view["metadata_version"],
        )
        if (brokers_digest, topics_digest) in listed:  # most observers list the same
            continue
        listed.add((brokers_digest, topics_digest))
        for one, told in view["brokers"].items():
            yield ViewBroker(brokers_digest=brokers_digest, broker_id=one, **{"rack": None} | told)
        for topic, told in view["topics"].items():
            digest = _digest((topic, told["partitions"]))
            head = {"topic": topic, "topic_digest": digest}
            yield ViewTopic(topics_digest=topics_digest, topic_id=told["topic_id"], error=told["error"], **head)
            for number, partition in told["partitions"].items():
                yield ViewPartition(partition=number, **head, **_tuples(partition))


def _reads(sample: int, world: World, observed: list[Observed]) -> list[SourceRead]:
    asked: dict[tuple[str, str, str], dict[str, Any]] = {}
    if world["info"]["mode"] == "zookeeper":
        needs = "a connection from this worker to zk:2181"
        refused = {} if world["zookeeper"] else {"error": "connection refused", "needs": needs}
        asked |= {("zookeeper", operation, "zk:2181"): refused for operation in ZOOKEEPER_READS.values()}
    for observer, _, _, address, view in observed:
        usual = {"error": "timeout", "needs": f"a connection from this worker to {address}"}
        error = {} if view["answers"] else usual | {name: view[name] for name in FAILURE if name in view}
        for operation in ("ApiVersions", "Metadata", "DescribeConfigs BROKER", "DescribeConfigs identity"):
            asked[observer, operation, address] = error
        for operation in reads_of_disks(world, observer):
            asked[observer, operation, address] = error
    if world["info"]["mode"] == "kraft" and 0 in world["brokers"]:
        asked |= {("broker:0", operation, "10.0.0.10:9092"): {} for operation in ("DescribeConfigs TOPIC", LISTING)}
    for patch in world["reads"]:
        keys = [key for key in asked if key[0] == patch["observer"] and fnmatch(key[1], patch["operation"])]
        new = (patch["observer"], patch["operation"], "somewhere")
        for key in keys or [new]:
            asked.pop(key, None)
            asked[*key[:2], patch.get("target", key[2])] = {name: patch[name] for name in FAILURE if name in patch}
    return [
        SourceRead(
            sample=sample,
            observer=key[0],
            operation=key[1],
            target=key[2],
            outcome="failed" if told else "answered",
            elapsed_ms=world["slow"].get(int(key[0][7:]) if key[0][7:].isdigit() else key[0], {}).get(key[1], 5),
            **with_failure(told),
        )
        for key, told in asked.items()
    ]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _probes(sample: int, world: World) -> Iterator[Row]:
    paths: dict[tuple[str, str, int | None, int, str], World] = {}
    for broker, listener, *_ in _endpoints(world):
        paths["worker", "client", None, broker, listener] = {}
    for patch in world["probes"]:
        known = {(broker, listener) for broker, listener, *_ in _endpoints(world)}
        role = patch.get("role", "broker" if "from" in patch else "client")
        vantage = patch.get("vantage", "brokers" if "from" in patch else "worker")
        for source in _many(patch.get("from")):
            for broker, listener in sorted(known):
                if broker in _many(patch["to"]) and listener == patch.get("listener", listener):
                    paths[vantage, role, source, broker, listener] = patch
    where = {(broker, listener): (protocol, host, port) for broker, listener, protocol, host, port in _endpoints(world)}
    for (vantage, role, source, broker, listener), patch in paths.items():
        protocol, host, port = where[broker, listener]
        if patch.get("outcome") == "none":
            continue
        head = {
            "sample": sample,
            "vantage": vantage,
            "role": role,
            "from_broker": source,
            "broker_id": broker,
            "listener": listener,
        }
        head |= {"protocol": protocol, "host": host, "port": port, "via": patch.get("via")}
        yield from _each_address(head, patch.get("each", {}))
        stop = patch.get("layer", "packets" if "packets" in patch else "tcp")
        for layer in (*LAYERS, stop) if stop == "packets" else dict.fromkeys((*LAYERS[:2], stop, *LAYERS[2:])):
            last = layer == patch.get("layer")
            reported = {key: patch.get(key) if last else None for key in ("error", "reason", "needs")}
            detail = patch.get("detail") if last else str(broker) if layer == "identity" else None
            detail = patch.get({"dns": "resolved"}.get(layer, layer), detail) if layer in {"dns", "packets"} else detail
            outcome = patch.get("outcome", "failed") if last else "ok"
            reported |= {"detail": detail, **reported_values(layer, detail)}
            yield Probe(**head, layer=layer, outcome=outcome, elapsed_ms=patch.get("ms", 2), **with_failure(reported))
            if last:
                break


def _each_address(head: World, each: World) -> Iterator[Row]:
    head = {key: value for key, value in head.items() if key not in {"protocol", "via"}}
    for address, found in each.items():
        row = {"layer": "identity", "outcome": "failed" if "reason" in found else "ok", "answered_by": None, **found}
        yield AddressProbe(**head, address=address, **with_failure(row))


def _identities(sample: int, world: World, observed: list[Observed]) -> Iterator[Row]:
    patches = {one["to"]: one for one in world["identities"]}
    told = {(broker, listener, address): view for _, broker, listener, address, view in observed if view["answers"]}
    for (broker, listener, address), view in told.items():
        patch = patches.get(broker if broker >= 0 else address, {})
        row = {"answered_by": broker if broker >= 0 else None, "kafka_cluster_id": view["kafka_cluster_id"]}
        if patch.get("asked", True):
            row |= {key: value for key, value in patch.items() if key in {"answered_by", "kafka_cluster_id"}}
            yield BrokerIdentity(sample=sample, broker_id=broker, listener=listener, address=address, **row)


def _configs(world: World) -> Iterator[Row]:
    for broker in world["brokers"]:
        told = {key: value for key, value in world["configs"].items() if isinstance(key, str)}
        told = merged(told, world["configs"].get(broker, {}))
        for key, value in told.items():
            if value == "absent":
                continue
            hidden = value == "hidden"
            yield BrokerConfig(
                observer=f"broker:{broker}",
                broker_id=broker,
                key=key,
                value=None if hidden else value,
                source=world["config_sources"].get(key, 4 if value else 5),
                sensitive=hidden,
                read_only=key in world["read_only"],
            )
