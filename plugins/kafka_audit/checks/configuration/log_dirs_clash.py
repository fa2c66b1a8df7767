import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.releases import does
from kafka_audit.cluster.settings import ROLES
from kafka_audit.model.text import without_id

_DIRS, _DIR, _METADATA, _TIERED = "log.dirs", "log.dir", "metadata.log.dir", "remote.log.storage.system.enable"
_DEFAULT, _TEMPORARY = "/tmp/kafka-logs", ("/tmp", "/var/tmp")  # noqa: S108 -- Kafka's default, compared and not used
_PARTITION = re.compile(r".+-\d+")
_ONE_DISK = "tiered_storage_needs_one_disk"


@dataclass(frozen=True, kw_only=True)
class _UnsafeDirectory:
    """What is wrong with the directories of a node, and the line to look at."""

    key: str
    text: str
    severity: Severity


@check(code="KA720", severity=Severity.CRITICAL, by_files=True)
def log_dirs_clash(view: ClusterView) -> Judgements:
    """Log directories are the same, inside each other, below /tmp, or on the disk of the metadata log."""
    yield from one_finding(view, _of_nodes(view))
    if not view.settings.controllers:
        yield from no_brokers(view)


def _of_nodes(view: ClusterView) -> Judgements:
    settings = view.settings
    nodes = sorted({*view.inter_broker.brokers, *settings.controllers})
    found = {node: sorted(_faults(view, node), key=lambda fault: -fault.severity) for node in nodes}
    # Files are judged one by one: each finding is at the line of its file, and has its path.
    of_brokers = () if not view.inter_broker.asked else (node for node in nodes if node not in settings.controllers)
    often = Counter(without_id(_text(found[node]), node) for node in of_brokers)
    for node in nodes:
        who, resource = settings.party(node), settings.resource(node)
        unknown = _unknown(view, node)
        if unknown:
            facts: dict[str, object] = {"who": who, "key": unknown[0], "error": f"{unknown[1]} is unknown"}
            facts["needs"] = f"DescribeConfigs on Cluster, or server.properties of {who} as it gets it"
            yield view.judge(resource, Status.UNKNOWN, facts)
            continue
        faults = found[node]
        if faults:
            text = alike if often[alike := without_id(_text(faults), node)] > 1 else _text(faults)
            facts = {"broker": node, "who": who, "key": faults[0].key, "fault": text}
            yield view.judge(resource, Status.FAIL, facts, severity=faults[0].severity)
        else:
            yield view.judge(resource, Status.PASS, who=who)


def _text(faults: Sequence[_UnsafeDirectory]) -> str:
    return "; ".join(fault.text for fault in faults)


def _unknown(view: ClusterView, node: int) -> tuple[str, str] | None:
    """Return the line to look at, and what is unknown of a node's directories, if anything is."""
    settings = view.settings
    found = {key: settings.get(node, key) for key in (_DIRS, _DIR, _METADATA, ROLES)}
    hidden = next((key for key, setting in found.items() if not setting.known), None)
    if hidden is None and not found[_DIRS].value and not found[_DIR].value and node not in settings.every_file:
        hidden = _DIRS  # brokers report their defaults as well
    if hidden:
        return hidden, hidden
    several = "," in (found[_DIRS].value or "") and _is_tiered(view, node)
    return (_TIERED, "its release") if several and does(view, node, _ONE_DISK) is None else None


def _is_tiered(view: ClusterView, node: int) -> bool:
    return (view.settings.get(node, _TIERED).value or "").lower() == "true"


def _faults(view: ClusterView, node: int) -> Iterator[_UnsafeDirectory]:
    settings = view.settings
    key = settings.first_set(node, _DIRS, _DIR)
    value = settings.get(node, _DIRS).value or settings.get(node, _DIR).value or _DEFAULT
    dirs = [posixpath.normpath(part.strip()) for part in value.split(",") if part.strip()]
    roles = settings.get(node, ROLES).value or ""
    metadata = settings.get(node, _METADATA).value if roles else None
    own = posixpath.normpath(metadata.strip()) if metadata and metadata.strip() else None
    if node not in settings.controllers:
        yield from _clashes(dirs, key, own)
        if dirs[1:] and _is_tiered(view, node) and does(view, node, _ONE_DISK):
            text = f"with tiered storage Kafka 3.6 and 3.7 do not start with {len(dirs)} log directories"
            yield _UnsafeDirectory(key=_TIERED, text=text, severity=Severity.CRITICAL)
        if roles and dirs[1:] and (own is None or own in dirs):
            text = f"the metadata log is in {own or dirs[0]}, one of {len(dirs)}: if that disk fails, the node halts"
            yield _UnsafeDirectory(key=_METADATA if own else key, text=text, severity=Severity.LOW)
    used = [own] if own and node in settings.controllers else [*dirs, *([own] if own else ())]
    lost = [path for path in used if path in _TEMPORARY or path.startswith(tuple(f"{place}/" for place in _TEMPORARY))]
    if lost:
        default = "" if settings.get(node, key).value or lost[0] == own else f"{_DIRS} is not set and "
        where = _METADATA if lost[0] == own and own not in dirs else key
        yield _UnsafeDirectory(key=where, text=f"{default}{lost[0]} is a directory for temporary files", severity=Severity.MEDIUM)


def _clashes(dirs: Sequence[str], key: str, metadata: str | None) -> Iterator[_UnsafeDirectory]:
    """Yield directories that a broker does not start with."""
    twice = sorted({path for path in dirs if dirs.count(path) > 1})
    if twice:
        yield _UnsafeDirectory(
            key=key, text=f"{twice[0]} is listed twice, and the broker does not start", severity=Severity.CRITICAL
        )
    # Sorted by their parts, a directory is next to the first one below it.
    ordered = sorted({*dirs, *([metadata] if metadata else ())}, key=lambda path: path.split("/"))
    for outer, inner in pairwise(ordered):
        below = inner.removeprefix(outer.rstrip("/") + "/")
        if outer in dirs and below != inner:
            where = _METADATA if inner == metadata and inner not in dirs else key
            taken = "treats it as a partition" if _PARTITION.fullmatch(below.split("/")[0]) else "does not start"
            yield _UnsafeDirectory(
                key=where, text=f"{inner} is inside {outer}, and the broker {taken}", severity=Severity.CRITICAL
            )
            return
