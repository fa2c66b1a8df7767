"""The rows of a world that tell who may do what, and who proves to be whom; keys of `world.py` beside the others:

acls:       a list of `[principal, operation]`, or with `permission, host, resource type, name, pattern` after that. ZooKeeper and
            brokers with an authorizer hold it; `acls_of` by broker id or `zookeeper`: another list, or `unread`.
properties: server.properties by broker id; `hidden` for a secret. `file_releases`: the release by whose rules lint judges each.
logins:     {broker, listener, mechanism, side, user, password}, one line of a JAAS text each; `broker` may be a list.
scram:      users by mechanism. quotas: users that have one. limits: rows of quotas.
authorities: by subject, {issuer, days, again: days of a second one of that name}.
certificates_of_others: {listener, host, port, days}, of controllers and of ZooKeeper.
certificates: by `ID/LISTENER`, `unseen` or what differs from a good one: {days, sans, name_matches, trusted, error, issuer,
             issuer_key}; an issuer has one key, and another one where the error is `certificate signature failure`.
dynamic:    of ZooKeeper by broker id or `all`: {key: value}, `hidden` for a secret.
apis:       {API key: [lowest, highest version]}; by broker id (text) what differs from that, `unread` for nothing;
             by address the same of a broker there whose id is unknown, which offers nothing else.
probes:     `mechanisms` is what a client's probe was told.
log_texts:  by node, the text of its server.log, whose times are of UTC: starts and ends of its process.
logs:       {broker, signature, supports, about, ...}: lines of one kind, 20 of them since both starts, the last a second ago.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kafka_audit.collect.logs.lines import scan
from kafka_audit.collect.logs.process import process_matches, process_rows
from kafka_audit.collect.logs.rows import Tail, Zone
from kafka_audit.collect.probes.reported_values import reported_values
from kafka_audit.model.tables import (
    Acl,
    AclHolder,
    AuthorityCertificate,
    BrokerApi,
    BrokerProperty,
    Certificate,
    DynamicConfig,
    FileRelease,
    LogLine,
    Probe,
    PropertyLogin,
    Quota,
    QuotaUser,
    Row,
    ScramUser,
)

World = Mapping[str, Any]
Endpoints = list[tuple[int, str, str, str, int]]
DAY = 86_400_000


def many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def digest_of(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:12]


def secured(sample: int, world: World, endpoints: Endpoints) -> Iterator[Row]:
    """Yield what one look reads."""
    yield from _acls(sample, world)
    yield from _certificates(sample, world, endpoints)
    for patch in world["probes"]:
        for broker, listener, protocol, host, port in endpoints if "mechanisms" in patch else ():
            if broker in many(patch["to"]):
                row = {"vantage": "worker", "role": "client", "from_broker": None, "via": None, "layer": "sasl", "outcome": "ok"}
                row |= {"broker_id": broker, "listener": listener, "protocol": protocol, "host": host, "port": port}
                row |= {"detail": patch["mechanisms"], **reported_values("sasl", patch["mechanisms"])}
                yield Probe(sample=sample, error=None, **row)


def _acls(sample: int, world: World) -> Iterator[Row]:
    holders: dict[str, Any] = {"zookeeper": world["acls"]} if world["zookeeper"] else {}
    for broker in world["brokers"]:
        if (world["configs"] | world["configs"].get(broker, {})).get("authorizer.class.name"):
            holders[f"broker:{broker}"] = world["acls"]
    holders |= {holder if holder == "zookeeper" else f"broker:{holder}": acls for holder, acls in world["acls_of"].items()}
    for observer, acls in holders.items():
        if acls == "unread" or not any(holder != "zookeeper" for holder in holders):
            continue
        digest = digest_of(sorted(map(str, acls)))
        broker = None if observer == "zookeeper" else int(observer.partition(":")[2])
        yield AclHolder(sample=sample, observer=observer, broker_id=broker, acls_digest=digest, acls=len(acls))
        names = ("principal", "operation", "permission", "host", "resource_type", "resource_name", "pattern_type")
        usual = ("ALLOW", "*", "Cluster", "kafka-cluster", "LITERAL")
        for acl in acls:
            yield Acl(acls_digest=digest, **dict(zip(names, (*acl, *usual[len(acl) - 2 :]), strict=True)))


def _certificates(sample: int, world: World, endpoints: Endpoints) -> Iterator[Row]:
    for broker, listener, protocol, host, port in endpoints:
        patch = world["certificates"].get(f"{broker}/{listener}", {})
        if "SSL" not in protocol.split("_") or patch == "unseen":
            continue
        good = {"subject": f"CN=broker-{broker}", "issuer": "CN=ca", "sans": [host], "trusted": True, "error": None}
        good |= {"not_before_ms": world["info"]["started_ms"] - DAY, "name_matches": True}
        good["not_after_ms"] = world["info"]["started_ms"] + patch.get("days", 300) * DAY
        row = good | {key: value for key, value in patch.items() if key != "days"}
        another = " of another key" if row["error"] == "certificate signature failure" else ""
        row.setdefault("issuer_key", hashlib.sha1(f"{row['issuer']}{another}".encode(), usedforsecurity=False).hexdigest())
        row["sans"] = tuple(row["sans"])
        yield Certificate(sample=sample, vantage="worker", broker_id=broker, listener=listener, host=host, port=port, **row)

    for certificate in world["certificates_of_others"]:
        where = {key: certificate[key] for key in ("listener", "host", "port")} | {
            "sample": sample,
            "vantage": "worker",
            "broker_id": -1,
        }
        observed = {
            "subject": certificate.get("subject", "CN=other"),
            "issuer": "CN=ca",
            "sans": (certificate["host"],),
            "trusted": True,
            "error": None,
        }
        yield Certificate(**where, **observed, **_dates(world, certificate["days"]), name_matches=True)
    for subject, authority in world["authorities"].items():
        for days in filter(None, (authority.get("days"), authority.get("again"))):
            names = {"file": "ca.pem", "subject": subject, "issuer": authority.get("issuer", subject)}
            yield AuthorityCertificate(sample=sample, **names, **_dates(world, days))


def _dates(world: World, days: int) -> dict[str, int]:
    started = world["info"]["started_ms"]
    return {"not_before_ms": started - 400 * DAY, "not_after_ms": started + days * DAY}


def files(world: World) -> Iterator[Row]:
    for broker, keys in world["properties"].items():
        for line, (key, value) in enumerate(keys.items(), start=1):
            secret = value == "hidden"
            row = {"source": f"server-{broker}.properties", "broker_id": broker, "key": key, "line": line, "secret": secret}
            yield BrokerProperty(**row, value=None if secret else value)
    yield from (FileRelease(node_id=node, version=version) for node, version in world["file_releases"].items())
    for login in world["logins"]:
        for broker in many(login["broker"]):
            row = {key: login[key] for key in ("listener", "mechanism", "side")} | {"username": login["user"]}
            source, digest = f"server-{broker}.properties", digest_of(login["password"])
            yield PropertyLogin(source=source, broker_id=broker, password_digest=digest, **row)
    for mechanism, users in world["scram"].items():
        yield from (ScramUser(user=user, mechanism=mechanism) for user in users)
    yield from (QuotaUser(user=user) for user in world["quotas"])
    yield from (Quota(**({"user": None, "client_id": None, "address": None} | limit)) for limit in world["limits"])
    for whose, keys in world["dynamic"].items():
        broker = None if whose == "all" else whose
        for key, value in keys.items():
            secret = value == "hidden"
            yield DynamicConfig(broker_id=broker, key=key, value=None if secret else value, secret=secret)
    yield from _apis(world)
    yield from (log_line(world["info"]["finished_ms"], **log) for log in world["logs"])
    for node, text in world["log_texts"].items():
        tail = Tail(log="server.log", scan=scan("", node), read_ms=world["info"]["finished_ms"])
        tail = replace(tail, process=process_matches("server.log", text.encode()))
        yield from process_rows(node, [tail], Zone(offset_ms=0, known_by="file"), 1)


def log_line(read_ms: int, *, broker: int, about: int, **fields: Any) -> LogLine:
    row = {"sample": 1, "log": "server.log", "part": None, "address": None, "detail": None, "text": "WARN it says so"}
    row |= {"written": "2026-11-22 01:02:03,456", "matches": 20, "since_start": 20, "zone": "registration", "read_ms": read_ms}
    row |= {"first_ms": read_ms - 20_000, "since_ms": read_ms - 20_000, "last_ms": read_ms - 1000}
    return LogLine(broker_id=broker, about_broker=about, **(row | fields))


def _apis(world: World) -> Iterator[Row]:
    usual = {key: offered for key, offered in world["apis"].items() if isinstance(key, int)}
    every = [(f"broker:{broker}", broker, world["apis"].get(str(broker), {}), usual) for broker in world["brokers"]]
    addresses = [key for key in world["apis"] if ":" in str(key)]
    every += [(f"broker@{address}", -1, world["apis"][address], {}) for address in addresses]
    for observer, broker, patch, offered_by_all in every:
        offers = {} if patch == "unread" else offered_by_all | patch
        for key, offered in offers.items():
            if offered != "none":
                lowest, highest = offered
                yield BrokerApi(observer=observer, broker_id=broker, api_key=key, min_version=lowest, max_version=highest)
