"""From the items of one cluster's entry to `model.cluster.Cluster`: which keys exist, and which values they take."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NoReturn

from kafka_audit.model import labels
from kafka_audit.model.addresses import trusted_hosts
from kafka_audit.model.cluster import WORKER, Cluster, Expect, Keep, Limits, Logs, Mute, Security, Vantage
from kafka_audit.model.errors import UsageError
from kafka_audit.model.progress import progress_kinds
from kafka_audit.model.text import did_you_mean
from kafka_audit.settings import logins
from kafka_audit.settings.document import Item

VARIABLE = "KAFKA_AUDIT_RETENTION"
LEAST_SNAPSHOTS = 2
"""The newest one and the one that it is compared with."""
LEAST_DAYS, MOST_DAYS = 1, 9_999_999
_USUAL = Keep(snapshots=700)
_PART = re.compile(r"(?P<number>[1-9][0-9]{0,6})(?P<days>d?)")


def usual_keep() -> Keep:
    """Return what is kept of a cluster whose entry does not say it: a number of snapshots, days, or both; 700 if not set.

    Raises:
        UsageError: the variable has no such form.
    """
    text = os.environ.get(VARIABLE, "").strip()
    return _parsed(text) if text else _USUAL


def _parsed(text: str) -> Keep:
    found: dict[str, int] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip().lower())
        key = "days" if match and match["days"] else "snapshots"
        least = LEAST_DAYS if key == "days" else LEAST_SNAPSHOTS
        if match is None or key in found or int(match["number"]) < least:
            msg = (
                f"{VARIABLE} is {text!r}: it must be a number of snapshots (at least {LEAST_SNAPSHOTS}), an age in days, or both,"
                " for example 9000, 365d or 365d,9000"
            )
            raise UsageError(msg)
        found[key] = int(match["number"])
    return Keep(**found)


CLUSTER_KEYS = (
    "labels", "zookeeper", "bootstrap", "controllers", "security", "listeners", "kafka_conn_id", "trusted_hosts", "reach",
    "vantages", "properties", "logs", "expect", "limits", "progress", "keep", "mute",
)  # fmt: skip
"""The keys of a cluster, and of `defaults`."""

_VANTAGE = ("queue", "command", "role", "env")
_LOGS = ("command", "paths", "env")
_EXPECT = tuple(f.name for f in fields(Expect))
_LIMITS = tuple(f.name for f in fields(Limits))
_KEEP = tuple(f.name for f in fields(Keep))
_MUTE = tuple(f.name for f in fields(Mute))
ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {"clusters": "the top level", "defaults": "the top level"}
    | {key: "clusters.<name>." + key for key in CLUSTER_KEYS}
    | {"connect": "zookeeper.connect", "sasl": "zookeeper.sasl", "tls": "zookeeper.tls"}
    | {key: f"security.oidc.{key}" for key in logins.OIDC}
    | {key: f"security.{key}" for key in logins.SECURITY}
    | {key: f"vantages.<name>.{key}" for key in _VANTAGE}
    | {key: f"expect.{key}" for key in _EXPECT}
    | {key: f"limits.{key}" for key in _LIMITS}
    | {key: f"progress.{key}" for key in progress_kinds()}
    | {key: f"keep.{key}" for key in _KEEP}
    | {key: f"mute.<n>.{key}" for key in _MUTE}
)
"""The place of every key, for the suggestion if it is misplaced."""

_ROLES = ("client", "broker", "controller")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_LEAST_BYTES = 1024 * 1024  # less would not hold one broker's settings
_CODE = re.compile(r"KA(?!000)[0-9]{3}")


def parse_cluster(item: Item, name: str, codes: Collection[str] | None) -> Cluster:
    """Return one entry of `clusters`; raises `UsageError`. `codes` as for `settings.load`."""
    given = item.fields(CLUSTER_KEYS, ELSEWHERE)
    if not given.keys() & {"zookeeper", "bootstrap", "kafka_conn_id"}:
        item.refuse("has no address; set zookeeper: host:2181 or bootstrap: [host:9092]")
    if "security" in given and "kafka_conn_id" in given:
        _refuse_two_logins(given["security"], given["kafka_conn_id"])
    none = Item(value=None, file=item.file, line=item.line)
    return Cluster(
        name=name,
        labels=_labels(given["labels"]) if "labels" in given else {},
        zookeeper=logins.zookeeper(given["zookeeper"], ELSEWHERE) if "zookeeper" in given else None,
        bootstrap=_addresses(given["bootstrap"]) if "bootstrap" in given else (),
        controllers=_addresses(given["controllers"]) if "controllers" in given else (),
        security=logins.security(given["security"], ELSEWHERE) if "security" in given else Security(),
        listeners=logins.listeners(given["listeners"], ELSEWHERE) if "listeners" in given else {},
        kafka_conn_id=given["kafka_conn_id"].text("the id of an Airflow connection") if "kafka_conn_id" in given else None,
        trusted_hosts=_trusted_hosts(given["trusted_hosts"]) if "trusted_hosts" in given else (),
        reach=_reach(given["reach"]) if "reach" in given else {},
        vantages=_vantages(given["vantages"], given.get("expect", none)) if "vantages" in given else (),
        properties=_paths(given["properties"]) if "properties" in given else (),
        logs=_logs(given["logs"]) if "logs" in given else None,
        expect=_expect(given["expect"]) if "expect" in given else Expect(),
        limits=_limits(given["limits"]) if "limits" in given else Limits(),
        progress=_progress(given["progress"]) if "progress" in given else {},
        keep=_keep(given["keep"]) if "keep" in given else usual_keep(),
        mute=_mutes(given["mute"], codes) if "mute" in given else (),
    )


def _refuse_two_logins(security: Item, connection: Item) -> NoReturn:
    if security.heir:
        connection.refuse(f"conflicts with security, which the cluster inherits ({security.place}); set `security: null`")
    if connection.heir:
        security.refuse(
            f"conflicts with kafka_conn_id, which the cluster inherits ({connection.place}); set `kafka_conn_id: null`"
        )
    connection.refuse("conflicts with security; remove one of them")


def _labels(item: Item) -> dict[str, str]:
    found = {}
    for name, entry in item.names("a mapping such as {team: payments, env: prod}").items():
        if not labels.is_label_name(name):
            entry.refuse(
                "a label's name takes letters, digits, `.`, `_`, `/` and `-`, at most 63, and starts with a letter or digit"
            )
        value = entry.text("a label's value, such as prod")
        if not labels.is_label_value(value):
            entry.refuse(f"a label's value takes at most {labels.LONGEST_VALUE} printable characters, without spaces at its ends")
        found[name] = value
    return found


def _addresses(item: Item) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry.address() for entry in item.items("a list such as [b1:9092, b2:9092]")))


def _trusted_hosts(item: Item) -> tuple[str, ...]:
    found = []
    for entry in item.items('a list such as ["*.kafka.corp"]'):
        text = entry.text("a host, or a pattern of hosts").strip()
        try:
            trusted_hosts.parse_trusted_hosts(text)
        except ValueError as error:
            # `user:password@host` is no host, and is not repeated.
            entry.refuse(f"{repr(text) if '@' not in text else 'a value with credentials'} {error}")
        found.append(text)
    return tuple(dict.fromkeys(found))


def _reach(item: Item) -> dict[str, str]:
    expected = 'a mapping such as {"advertised:9092": "dialled:19092"}'
    return {entry.check_address(advertised): entry.address() for advertised, entry in item.names(expected).items()}


def _vantages(item: Item, expect: Item) -> tuple[Vantage, ...]:
    counts = {key: entry.value for key, entry in expect.value.items()} if isinstance(expect.value, dict) else {}
    one_host = counts.get("single_broker") is True or counts.get("brokers") == 1
    expected = "a mapping such as {dmz: {command: [ssh, dmz1]}}"
    return tuple(_vantage(name, entry, one_host=one_host) for name, entry in item.names(expected).items())


def _vantage(name: str, item: Item, *, one_host: bool) -> Vantage:
    given = item.fields(_VANTAGE, ELSEWHERE)
    if name == WORKER:
        item.refuse(f"{WORKER} is the reserved name of the host that runs the audit; choose another name")
    if ("queue" in given) == ("command" in given):
        item.refuse("requires exactly one of queue: NAME and command: [PROGRAM, ARGUMENT, …]")
    if "queue" in given and "env" in given:
        given["env"].refuse("is for the command of a vantage; a queue has the environment of its worker")
    role = given["role"].choice(_ROLES) if "role" in given else "client"
    if "queue" in given:
        if role != "client":
            example = f"[ssh, 'kafka-{{{role}_id}}']"
            given["role"].refuse(f"a queue is one host, not one per {role}; use command: {example}")
        return Vantage(name=name, role=role, queue=given["queue"].text("the name of an Airflow queue"))
    command = _command(given["command"])
    place = f"{{{role}_id}}"
    needed = role == "controller" or (role == "broker" and not one_host)
    if needed and not any(place in word for word in command):
        given["command"].refuse(f"must contain {place}: with role: {role}, the command runs on the host of each {role}")
    return Vantage(name=name, role=role, command=command, env=_variables(given))


def _variables(given: Mapping[str, Item]) -> tuple[str, ...]:
    """Return the names of variables that a command gets besides those that such commands need."""
    if "env" not in given:
        return ()
    names = given["env"].items("a list of names of variables, such as [VAULT_ADDR]")
    for item in names:
        if _VARIABLE.fullmatch(item.text("the name of a variable")) is None:
            item.refuse("is not the name of an environment variable; values are set there, not here")
    return tuple(item.text() for item in names)


def _command(item: Item) -> tuple[str, ...]:
    return tuple(word.text() for word in item.items("a list such as [ssh, dmz1]"))


def _paths(item: Item) -> tuple[str, ...]:
    return tuple(path.text("a path") for path in item.items("a list of paths"))


def _logs(item: Item) -> Logs:
    given = item.fields(_LOGS, ELSEWHERE)
    if ("command" in given) == ("paths" in given):
        item.refuse("requires exactly one of command: [PROGRAM, ARGUMENT, …] and paths: [PATH, …]")
    if "paths" in given and "env" in given:
        given["env"].refuse("is for a command; paths are read without one")
    if "command" in given:
        return Logs(command=_command(given["command"]), env=_variables(given))
    return Logs(paths=_paths(given["paths"]))


def _expect(item: Item) -> Expect:
    given = item.fields(_EXPECT, ELSEWHERE)
    return Expect(
        brokers=given["brokers"].whole(1) if "brokers" in given else None,
        cluster_id=given["cluster_id"].text("Kafka's cluster id") if "cluster_id" in given else None,
        single_broker=given["single_broker"].flag() if "single_broker" in given else False,
    )


def _limits(item: Item) -> Limits:
    given = item.fields(_LIMITS, ELSEWHERE)
    usual = Limits()

    def number(key: str, minimum: float, maximum: float = float("inf")) -> float:
        return given[key].number(minimum, maximum) if key in given else float(getattr(usual, key))

    def whole(key: str, minimum: int) -> int:
        return given[key].whole(minimum) if key in given else int(getattr(usual, key))

    read_s = number("read_s", 0.1)
    limits = Limits(
        read_s=read_s,
        audit_s=number("audit_s", 1),
        connections_per_broker=whole("connections_per_broker", 1),
        settle_s=number("settle_s", 0),
        leader_moves=number("leader_moves", 0, 1),
        skew_s=number("skew_s", 0),
        brokers=whole("brokers", 1),
        endpoints=whole("endpoints", 1),
        probes=whole("probes", 1),
        bytes=whole("bytes", _LEAST_BYTES),
        rows=whole("rows", 1),
        dial_untrusted=given["dial_untrusted"].flag() if "dial_untrusted" in given else usual.dial_untrusted,
    )
    if limits.audit_s < limits.read_s:
        item.refuse(f"audit_s ({limits.audit_s:g}) must be at least read_s ({limits.read_s:g})")
    return limits


def _progress(item: Item) -> dict[str, float]:
    """Return the minutes for which kinds of progress may show the same measure."""
    return {kind: entry.number(0) for kind, entry in item.fields(progress_kinds(), ELSEWHERE).items()}


def _keep(item: Item) -> Keep:
    given = item.fields(_KEEP, ELSEWHERE)
    if not given:
        return usual_keep()
    return Keep(
        snapshots=given["snapshots"].whole(LEAST_SNAPSHOTS) if "snapshots" in given else None,
        days=given["days"].whole(LEAST_DAYS, MOST_DAYS) if "days" in given else None,
    )


def _mutes(item: Item, codes: Collection[str] | None) -> tuple[Mute, ...]:
    return tuple(_mute(entry, codes) for entry in item.items("a list of {code, resource, reason, owner, until}"))


def _mute(item: Item, codes: Collection[str] | None) -> Mute:
    given = item.fields(_MUTE, ELSEWHERE)
    for key, why in (
        ("code", "the code of the check"),
        ("resource", "the resource, e.g. cluster, broker/2 or topic/orders/*"),
        ("reason", "why the finding is accepted"),
        ("owner", "the person or team that accepts it"),
    ):
        if key not in given:
            item.refuse(f"requires {key}: {why}")
    code = given["code"].text("a check's code")
    if not _CODE.fullmatch(code):
        given["code"].refuse(
            f"{code!r} is not a check code such as KA101{did_you_mean(code, codes or ())}; `kafka-audit explain` lists them"
        )
    if codes is not None and code not in codes:  # of a version to come or long gone: one file may serve several
        given["code"].warn(f"{code} is not a check of this version, and the mute has no effect{did_you_mean(code, codes)}")
    until = given["until"].day() if "until" in given else None
    if until is not None and until < datetime.now(UTC).date():
        given["until"].warn(f"the mute of {code} ended on {until:%d %b %Y}; remove the entry, or repeat what it accepts")
    return Mute(
        code=code,
        resource=given["resource"].text(),
        reason=given["reason"].text(),
        owner=given["owner"].text(),
        until=until,
    )
