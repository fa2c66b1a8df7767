from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_QUORUM, no_files
from kafka_audit.cluster.listeners.inter_broker import DEFAULT_MECHANISM, InterBroker
from kafka_audit.cluster.releases import releases
from kafka_audit.cluster.settings import ROLES
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.faults.controller_access import MECHANISM, without_mechanism
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS
from kafka_audit.model.addresses.voters import SERVERS, VOTERS, named_voters
from kafka_audit.model.text import counted, listing

_MAP = "listener.security.protocol.map"
_JAAS, _CALLBACK = ".sasl.jaas.config", "sasl.server.callback.handler.class"


@dataclass(frozen=True, kw_only=True)
class _ControllerLogin:
    """How a node logs in to controllers, by its file."""

    node: int
    listener: str
    mechanism: str
    key: str  # the line to look at
    votes: bool  # as a controller


@check(code="KA713", severity=Severity.CRITICAL, by_files=True)
def controller_login_fails(view: ClusterView) -> Judgements:
    """A node logs in to controllers with a mechanism that they do not enable, or that cannot work before there is a leader."""
    nodes = sorted(view.settings.every_file)
    if (nodes or view.zookeeper_read) and not any(view.settings.get(node, ROLES).state != "unset" for node in nodes):
        yield view.not_applicable("cluster", NO_QUORUM, who="A node")
        return
    controllers = [node for node in nodes if node in view.settings.with_controller_role]
    yield from (_of_node(view, node, controllers) for node in nodes)
    if not nodes:
        yield from no_files(view)


def _of_node(view: ClusterView, node: int, controllers: Sequence[int]) -> Judgement:  # noqa: PLR0911 -- the order of a login
    between, settings = view.next_start, view.settings
    resource, who = settings.resource(node), f"node {node}"
    hidden = [key for key in (ROLES, CONTROLLERS, _MAP, MECHANISM) if settings.get(node, key).state == "hidden"]
    if hidden:
        return view.unknown(
            resource, f"{hidden[0]} contains a placeholder", f"the file as {who} reads it", who=who, key=hidden[0]
        )
    listener = settings.controllers_listener(node)
    protocol = between.protocol_to_controllers(node)
    if protocol is None:
        return view.not_applicable(resource, f"Kafka refuses {_MAP} without {listener}", who=who.capitalize())
    theirs = {_protocol(between, other) for other in controllers if other != node} - {None}
    if listener and theirs and protocol not in theirs:
        why, key = f"controllers listen with {listing(sorted(filter(None, theirs)))}", settings.first_set(node, _MAP, CONTROLLERS)
        return view.judge(resource, Status.FAIL, node=node, who=who, key=key, mechanism=protocol, listener=listener, why=why)
    if not protocol.startswith("SASL"):
        reason = f"listener {listener} is {protocol}" if listener else f"it names no listener in {CONTROLLERS}"
        return view.not_applicable(resource, reason, who=who.capitalize())
    login = _ControllerLogin(
        node=node,
        listener=listener,
        mechanism=settings.get(node, MECHANISM).value or DEFAULT_MECHANISM,
        key=settings.first_set(node, MECHANISM, _MAP),
        votes=node in controllers,
    )
    evidence: dict[str, object] = {"node": node, "who": who, "key": login.key}
    evidence |= {"mechanism": login.mechanism, "listener": listener}
    # A controller does not log in to itself, unless it is a broker, too; a single file stands for all.
    others = [other for other in controllers if other != node or node in settings.combined]
    fault = _not_enabled(view, login, others or controllers) or _without_text(between, login)
    now = view.quorum.now
    follows = login.node in now.replicas and login.node not in now.late
    if fault:
        return view.judge(resource, Status.FAIL, evidence, why=fault, severity=Severity.HIGH if follows else None)
    if login.mechanism.startswith("SCRAM-") and not _kept_elsewhere(between, login, controllers):
        return _scram(view, resource, login, evidence, alone=len(controllers) == 1, follows=follows)
    if not controllers:
        return view.unknown(resource, "no file of a controller was read", "server.properties of the controllers", evidence)
    return view.judge(resource, Status.PASS, evidence)


def _protocol(between: InterBroker, controller: int) -> str | None:
    """Return the security protocol with which a controller listens, None where its file does not show it."""
    settings = between.settings
    if any(settings.get(controller, key).state == "hidden" for key in (CONTROLLERS, _MAP)):
        return None
    return between.protocol_to_controllers(controller) if settings.controllers_listener(controller) else None


def _not_enabled(view: ClusterView, login: _ControllerLogin, controllers: Iterable[int]) -> str:
    """Return which controllers do not enable the mechanism of a login, "" for none."""
    without = without_mechanism(view, login.listener, login.mechanism, controllers)
    if not without:
        return ""
    default = "" if view.settings.get(login.node, MECHANISM).value else f"{MECHANISM} is not set; "
    verb = "enables" if len(without) == 1 else "enable"
    return f"{default}{counted(len(without), 'controller')} ({listing(without)}) {verb} {next(iter(without.values()))}"


def _without_text(between: InterBroker, login: _ControllerLogin) -> str:
    """Return that the file logs in to that listener with other mechanisms only."""
    prefix = f"listener.name.{login.listener.lower()}."
    lines = between.settings.every_file[login.node]
    others = sorted(key for key in lines if key.startswith(prefix) and key.endswith(_JAAS))
    own = f"{prefix}{login.mechanism.lower()}{_JAAS}"
    return "" if not others or own in lines else f"the file has {others[0]}, and no {own}"


def _kept_elsewhere(between: InterBroker, login: _ControllerLogin, controllers: Iterable[int]) -> bool:
    key = f"{login.mechanism.lower()}.{_CALLBACK}"
    return any(between.settings.at(node, login.listener, key).state in {"set", "hidden"} for node in controllers)


def _scram(  # noqa: PLR0913 - what decides
    view: ClusterView, resource: str, login: _ControllerLogin, evidence: dict[str, object], *, alone: bool, follows: bool
) -> Judgement:
    """Judge a login with SCRAM, whose users are in the metadata log."""
    known, kept = releases(view, login.node), behaviour("scram_in_kraft")
    if known and not kept.holds(known[-1]):
        why = f"controllers of Kafka {known[-1]} have no SCRAM users (from {kept.first} on)"
        return view.judge(resource, Status.FAIL, evidence, why=why)
    settings = view.settings
    servers = (settings.get(login.node, SERVERS).value or "").count(":")
    voters = len(named_voters(settings.get(login.node, VOTERS).value)) or servers
    if login.votes and (voters > 1 or not alone):
        why = "SCRAM users are in the metadata log, which controllers read only after an election if all of them start"
        return view.judge(resource, Status.FAIL, evidence, why=why, severity=Severity.HIGH)
    if follows:
        return view.judge(resource, Status.PASS, evidence)
    return view.unknown(
        resource,
        "its SCRAM user is in the metadata log",
        "a log formatted with --add-scram, or an audit of the cluster",
        evidence,
    )
