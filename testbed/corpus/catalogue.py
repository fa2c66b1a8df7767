"""Faults, controls and presets, as the YAML files beside this module hold them."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

import kafka_audit.checks
from testbed.corpus.words import Demands
from testbed.errors import BedError

HERE = Path(__file__).parent
VERSIONS: dict[str, tuple[str, bool]] = {
    "2.8.2 ZooKeeper": ("2.8.2", True),
    "3.9.1 ZooKeeper": ("3.9.1", True),
    "3.9.1 KRaft": ("3.9.1", False),
    "4.3.0 KRaft": ("4.3.0", False),
    "4.4.0 KRaft": ("4.4.0", False),
    "3.9.1 dynamic": ("3.9.1", False),
    "4.3.0 dynamic": ("4.3.0", False),
    "4.4.0 dynamic": ("4.4.0", False),
}
"""What the corpus runs on: the release, and whether with ZooKeeper."""
DYNAMIC = tuple(name for name in VERSIONS if name.endswith(" dynamic"))
"""Those whose voters are in the metadata log from the start; the others with KRaft have them in files (a static quorum)."""
_EVERY_FAULT = tuple(VERSIONS)[:4]
GROUPS = {
    "all": _EVERY_FAULT,
    "zookeeper": tuple(name for name in _EVERY_FAULT if VERSIONS[name][1]),
    "kraft": tuple(name for name in _EVERY_FAULT if not VERSIONS[name][1]),
    "newest": ("4.4.0 KRaft",),
    "static": tuple(name for name in VERSIONS if not VERSIONS[name][1] and name not in DYNAMIC),
    "dynamic": DYNAMIC,
}
"""Names for several versions. On the newest release only faults of controllers are repeated, and healthy clusters."""
LOADS = {
    "running transactions": 0,
    "exactly-once replay": 0,
    "tiered storage": 0,
    "share groups": 4,
    "MirrorMaker 2": 0,
    "migration with a higher KRaft epoch": 0,
    "names with two addresses": 0,
}
"""What clusters in use have and test clusters lack, with the major release from which on controls have it."""
Loss = Literal["leader", "all"]
"""What is killed: the leader of the metadata quorum, or all controllers, which start again at once."""
Some = TypeVar("Some")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One named action with its arguments; see `actions.ACTIONS`."""

    do: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """A finding that must be reported: a code, and the resource unless any will do."""

    code: str
    resource: str | None = None

    def matches(self, code: str, resource: str) -> bool:
        """Return whether a failing finding is this one."""
        return self.code == code and self.resource in {None, resource}


@dataclass(frozen=True, kw_only=True)
class Preset:
    """How the clusters of some faults are made.

    Attributes:
        security: as `presets.named` or `scene.SECURITIES` has it; None: one open PLAINTEXT listener.
        brokers: how many.
        controllers: of KRaft; 0: the brokers are controllers too.
        observers: ids of further controllers of a dynamic quorum, without a vote.
        properties: of all brokers.
        per_broker: of single brokers.
        topics: assignments by topic and partition, created before the first audit.
        audit: keys of the cluster's entry in clusters.yaml, over what the bed writes; None takes one away.
        population: what `testbed.population` gives the cluster before the first audit: ``whole``, ``few`` or nothing.
        controller_files: whether the auditor has the files and logs of KRaft controllers too.
        named_controllers: whether KRaft controllers are known by names.
        tiered: whether brokers have tiered storage; in KRaft for brokers that are controllers too, which have to know of it.
    """

    security: str | None = None
    brokers: int = 3
    controllers: int = 1
    observers: tuple[int, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    per_broker: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    topics: Mapping[str, Mapping[int, list[int]]] = field(default_factory=dict)
    audit: Mapping[str, Any] = field(default_factory=dict)
    population: Literal["whole", "few"] | None = None
    controller_files: bool = False
    named_controllers: bool = False
    tiered: bool = False


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault.

    Attributes:
        id: its name in the record.
        title: one line.
        preset: how its cluster is made.
        versions: keys of `VERSIONS`, or of `GROUPS`.
        steps: break the cluster; empty where the cluster of this preset has the fault from the start.
        cause: codes of which the first incident has one; below HIGH, where there are no incidents, codes of which one fails.
        report: what must fail, ``CODE`` or ``CODE RESOURCE``.
        also: codes that may fail or head an incident besides: they are true as well.
        never: codes that must not fail.
        heal: repair the cluster, by what the findings print wherever the bed can do it.
        healed_as: preset of a cluster that is made as the finding asks, where a running one cannot be changed to it; it is
            started and audited instead of the repaired one.
        follows: codes of the checks whose remedy the words of `heal` are; without, those of `cause`.
        loses: what is killed after the audit, whereupon the quorum elects no leader. The repaired cluster elects one after the
            same loss.
        lasting: codes of `report` that the repair does not bring to an end, with the reason.
        demands: the words with which a printed report names it, the same for every tool.
        besides: ids of faults that its cluster has as well: a report that names them is not wrong.
        usual: the bed's clusters have it anyhow, so a report that names it is never wrong.
        alone: the cluster is thrown away afterwards.
    """

    id: str
    title: str
    preset: str = "plain"
    versions: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    cause: tuple[str, ...]
    report: tuple[Expected, ...]
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    heal: tuple[Step, ...] = ()
    healed_as: str | None = None
    follows: tuple[str, ...] = ()
    loses: Loss | None = None
    lasting: Mapping[str, str] = field(default_factory=dict)
    demands: Demands
    besides: tuple[str, ...] = ()
    usual: bool = False
    alone: bool = False


@dataclass(frozen=True, kw_only=True)
class Control:
    """One healthy configuration.

    Attributes:
        id: its name in the record.
        title: one line.
        preset: how its cluster is made.
        versions: as of a fault.
        steps: done once, before the first audit.
        churn: done in every round, each step followed by an audit; without, a round is an audit.
        loads: keys of `LOADS` that its cluster has; `healthy` audits it with fewer inputs as well.
        quorum: whether `healthy` audits it with each of the cluster files that `quorum_inputs` makes.
    """

    id: str
    title: str
    preset: str
    versions: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    churn: tuple[Step, ...] = ()
    loads: tuple[str, ...] = ()
    quorum: bool = False


@cache
def presets() -> dict[str, Preset]:
    """Return the presets by name."""
    return {name: _made(Preset, raw or {}, f"preset {name}") for name, raw in _load(HERE / "presets.yaml").items()}


@cache
def without_sign() -> Mapping[str, str]:
    """Return the faults of which no line of a log shows the cause, each with the reason."""
    found: dict[str, str] = yaml.safe_load((HERE / "without_sign.yaml").read_text(encoding="utf-8"))
    return found


@cache
def faults() -> dict[str, Fault]:
    """Return the faults by id, in the order of the files.

    Raises:
        BedError: a file is not as it should be; names the fault.
    """
    found: dict[str, Fault] = {}
    for path in sorted((HERE / "faults").glob("*.yaml")):
        for name, raw in _load(path).items():
            if name in found:
                message = f"{path.name}: there is another fault {name}"
                raise BedError(message)
            found[name] = fault(name, raw)
    return found


@cache
def controls() -> dict[str, Control]:
    """Return the healthy controls by id."""
    found = {}
    for name, raw in _load(HERE / "controls.yaml").items():
        parts: dict[str, Any] = {"steps": steps(raw.get("steps")), "churn": steps(raw.get("churn"))}
        parts |= {"versions": _versions(raw, name), "loads": _words(raw.get("loads"), separator=",")}
        found[name] = _made(Control, {**raw, **parts, "id": name}, f"control {name}")
    return found


@cache
def case_files() -> dict[str, dict[str, Any]]:
    """Return what the case files of checks hold, by code."""
    files = (_load(path) for path in sorted(Path(kafka_audit.checks.__file__).parent.glob("*/*.yaml")))
    return {file["check"]: file for file in files}


def by_scenario() -> dict[str, str]:
    """Return the checks that a scenario test breaks and heals on a real cluster, with its file."""
    return {code: file["broken_by"] for code, file in case_files().items() if "broken_by" in file}


def unbreakable() -> dict[str, str]:
    """Return the checks that no fault of the corpus brings to fail, with the reason."""
    return _exceptions("corpus")


def unexecuted() -> dict[str, str]:
    """Return the checks whose remedy no run of the record executed, with the reason."""
    return _exceptions("remedy")


def _exceptions(kind: str) -> dict[str, str]:
    found = {code: file.get("exceptions", {}).get(kind) for code, file in case_files().items()}
    return {code: why for code, why in found.items() if why}


def of_release(version: str) -> str:
    """Return the version of the same release whose voters are in files; of others the version itself."""
    return version.replace(" dynamic", " KRaft") if version in DYNAMIC else version


def fault(name: str, raw: Mapping[str, Any]) -> Fault:
    """Return a fault as its file has it."""
    parts: dict[str, Any] = {
        "id": name,
        "steps": steps(raw.get("steps")),
        "heal": steps(raw.get("heal")),
        "versions": _versions(raw, name),
        "cause": _words(raw.get("cause")),
        "also": _words(raw.get("also")),
        "never": _words(raw.get("never")),
        "follows": _words(raw.get("follows")),
        "besides": _words(raw.get("besides"), separator=","),
        "demands": demands(raw, f"fault {name}"),
        "report": tuple(_expected(text) for text in raw.get("report") or _words(raw.get("cause"))),
    }
    return _made(Fault, {**raw, **parts}, f"fault {name}")


def demands(raw: Mapping[str, Any], where: str) -> Demands:
    """Return the words that an entry demands of a report.

    Raises:
        BedError: it has none, or unknown keys.
    """
    return _made(Demands, raw.get("demands") or {}, f"{where}: demands")


def _expected(text: str) -> Expected:
    code, _, resource = text.partition(" ")
    return Expected(code=code, resource=resource or None)


def steps(raw: Any) -> tuple[Step, ...]:  # noqa: ANN401 - YAML
    """Return steps as a YAML file has them."""
    return tuple(
        Step(do=step, arguments={})
        if isinstance(step, str)
        else Step(do=step["do"], arguments={key: value for key, value in step.items() if key != "do"})
        for step in raw or ()
    )


def _versions(raw: Mapping[str, Any], name: str) -> tuple[str, ...]:
    wanted = _words(raw.get("versions", "all"), separator=",")
    found = {version for name in wanted for version in GROUPS.get(name, (name,))}
    if unknown := found - set(VERSIONS):
        message = f"{name}: no versions {sorted(unknown)}"
        raise BedError(message)
    return tuple(version for version in VERSIONS if version in found)


def _words(raw: Any, separator: str | None = None) -> tuple[str, ...]:  # noqa: ANN401 - YAML
    if isinstance(raw, str):
        return tuple(part.strip() for part in raw.split(separator))
    return tuple(raw or ())


def _made(kind: type[Some], raw: Mapping[str, Any], where: str) -> Some:
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if unknown := set(raw) - known:
        message = f"{where}: unknown {sorted(unknown)}; there are {sorted(known)}"
        raise BedError(message)
    try:
        return kind(**raw)
    except TypeError as error:
        message = f"{where}: {error}"
        raise BedError(message) from error


def _load(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(), yaml.CSafeLoader) or {}
