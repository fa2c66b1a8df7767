"""What the steps of faults do, by name: each a small function of the scene and the step's arguments."""

import contextlib
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from testbed import tiers, topics
from testbed.acls import Acl, auditor_grants
from testbed.brokers import STEP_SECONDS
from testbed.certificates import Certificate
from testbed.cluster import Cluster
from testbed.corpus.catalogue import Step
from testbed.corpus.leader_loss import kill, quorum
from testbed.corpus.scene import Scene
from testbed.corpus.tools import filled, printed_commands
from testbed.disks import CHECKPOINT_SECONDS, add_disk
from testbed.errors import BedError
from testbed.faults import cross_forwards, cut_from_quorum, heal_quorum, rolling_restart, stale_leader, start_second_process
from testbed.group_member import start_member
from testbed.kraft import CONTROLLER_PORT
from testbed.log_segments import write_offset_commits
from testbed.migration import Migration
from testbed.mirror import mirror
from testbed.names import Nameserver, own_names
from testbed.security import BROKER
from testbed.servers import SOFT_STOP_SECONDS, ZOOKEEPER_PORT, Server

ACTIONS: dict[str, Callable[..., object]] = {}
LOOK_SECONDS = 0.5
HERE = Path(__file__).parent
_LENGTH_OF_BATCH = 8  # where it is in a batch, after the base offset


def action(function: Callable[..., object]) -> Callable[..., object]:
    """Register a function as the action of its name."""
    ACTIONS[function.__name__] = function
    return function


def carry_out(scene: Scene, steps: Iterable[Step]) -> None:
    """Carry out steps in their order.

    Raises:
        BedError: a step failed; names it.
    """
    for step in steps:
        try:
            ACTIONS[step.do](scene, **step.arguments)
        except (BedError, KeyError, TypeError, ValueError, StopIteration) as error:
            message = f"{step.do}: {type(error).__name__}: {error}"
            raise BedError(message) from error


# --- brokers and controllers ---


@action
def set_properties(
    scene: Scene, properties: Mapping[int, Mapping[str, str | None]], *, settle: bool | list[int] = True, hard: bool = False
) -> None:
    """Restart brokers with further properties (null takes one away); `revert` takes it back."""
    before = {
        broker: {key: scene.cluster.brokers[broker].server.properties.get(key) for key in keys}
        for broker, keys in properties.items()
    }
    scene.cluster.restart_brokers({broker: _text(keys) for broker, keys in properties.items()}, hard=hard)
    scene.undo.append(lambda: set_properties(scene, before, settle=False))
    await_settled(scene, settle)


@action
def set_all(
    scene: Scene, properties: Mapping[str, str | None], *, settle: bool | list[int] = True, controllers: Sequence[str] = ()
) -> None:
    """Restart all brokers with further properties, one after the other where all is well, as an operator does.

    `controllers`: the keys among them that controllers get, too, in KRaft.
    """
    if controllers and not isinstance(scene.cluster, Cluster):
        set_controllers(scene, {key: str(properties[key]) for key in controllers})
    before = {
        broker.id: {key: broker.server.properties.get(key) for key in properties} for broker in scene.cluster.brokers.values()
    }
    scene.cluster.restart_brokers(dict.fromkeys(scene.cluster.brokers, _text(properties)))
    scene.undo.append(lambda: set_properties(scene, before, settle=False))
    await_settled(scene, settle)


@action
def write_properties(scene: Scene, broker: int, properties: Mapping[str, str]) -> None:
    """Change the file of a running broker, which it reads at its next start; `revert` takes it back."""
    server = scene.cluster.brokers[broker].server
    before = dict(server.properties)

    def undo() -> None:
        server.properties = before
        server.write_config()

    server.properties = {**before, **{key: str(value) for key, value in properties.items()}}
    server.write_config()
    scene.undo.append(undo)


@action
def revert(scene: Scene, *, says: str = "", settle: bool | list[int] = True) -> None:
    """Take back everything that was done, newest first. `says`: the repair that the finding describes in these words."""
    if says:
        scene.followed.append(says)
    undone, scene.undo = scene.undo, []
    for undo in reversed(undone):
        undo()
    scene.undo = []  # what undoes may be actions that note how they are undone
    await_settled(scene, settle)


@action
def stop(scene: Scene, broker: int, *, hard: bool = False) -> None:
    """Stop a broker, softly or by SIGKILL; `revert` starts it."""
    scene.cluster.brokers[broker].stop(hard=hard)
    scene.undo.append(lambda: scene.cluster.start_brokers([broker]))


@action
def start(scene: Scene, broker: int, *, settle: bool | list[int] = True, says: str = "") -> None:
    """Start a broker."""
    if says:
        scene.followed.append(says)
    scene.cluster.start_brokers([broker])
    scene.undo.clear()
    await_settled(scene, settle)


@action
def restart(scene: Scene, broker: int, *, settle: bool | list[int] = True, says: str = "") -> None:
    """Restart a broker."""
    if says:
        scene.followed.append(says)
    scene.cluster.restart_brokers({broker: {}})
    await_settled(scene, settle)


@action
def pause(scene: Scene, broker: int, seconds: float) -> None:
    """Freeze a broker for some seconds and let it go on."""
    scene.cluster.brokers[broker].suspend()
    time.sleep(seconds)
    scene.cluster.brokers[broker].resume()
    await_settled(scene)
    time.sleep(3)


@action
def stop_controllers(scene: Scene, *, followers: int = 0, leader: bool = False) -> None:
    """Kill controllers of the quorum, followers first; `revert` starts them."""
    servers, leads = quorum(scene)
    chosen = [server for node, server in servers.items() if node != leads][:followers]
    chosen += [servers[leads]] if leader else []
    for server in chosen:
        kill(server)
    scene.undo.append(lambda: _launch(scene, chosen))


@action
def hide_voter(scene: Scene) -> None:
    """Cut all other nodes from the services of a voter that follows; what it opens itself goes on. `revert` heals that."""
    servers, leads = quorum(scene)
    hidden = next(node for node in servers if node != leads)
    sources = [host for node, host in scene.cluster.hosts().items() if node != str(hidden)]
    target = servers[hidden].host
    for source in sources:
        scene.bed.cut(source, target)

    def undo() -> None:
        for source in sources:
            scene.bed.heal(source, target)

    scene.undo.append(undo)


@action
def await_voters(scene: Scene, *, down: int = 0) -> None:
    """Wait until all but this number of voters are caught up with the metadata log."""
    wanted = len(scene.kraft.controllers) - down
    following = scene.cluster.ask_topics("await-voters", count=wanted, seconds=STEP_SECONDS)
    if following < wanted:
        message = f"{following} voters follow, not {wanted}"
        raise BedError(message)


@action
def suspend_voter(scene: Scene) -> None:
    """Freeze a voter that follows; `revert` lets it go on."""
    node, *_ = _followers(scene)
    server = scene.kraft.controllers[node]
    server.suspend()
    scene.undo.append(server.resume)


@action
def cut_followers(scene: Scene, *, both_ways: bool) -> None:
    """Cut one voter that follows from another one, in one direction or in both; `revert` heals it."""
    one, other, *_ = (scene.kraft.controllers[node].host for node in _followers(scene))
    pairs = [(one, other), (other, one)] if both_ways else [(one, other)]
    for source, target in pairs:
        scene.bed.cut(source, target)
        scene.undo.append(partial(scene.bed.heal, source, target))


@action
def set_voter(scene: Scene, properties: Mapping[str, str], *, port: int = CONTROLLER_PORT) -> None:
    """Restart a voter that follows with further properties; `revert` takes it back.

    Args:
        scene: the scene.
        properties: in which ADDRESS stands for its address.
        port: that it advertises then. If it is another one, it is awaited that the quorum has it, and then the other followers
            start again, too, so that they hold no connection to the earlier one.
    """
    node, *others = _followers(scene)
    server, before = scene.kraft.controllers[node], dict(scene.kraft.controllers[node].properties)
    there = {key: value.replace("ADDRESS", server.host.address) for key, value in properties.items()}

    def restart_with(now: Mapping[str, str], advertised: int) -> None:
        _start_anew(scene, {node: now})
        if port != CONTROLLER_PORT:
            await_voters(scene)
            wanted = f"{server.host.address}:{advertised}"
            if (found := scene.cluster.ask_topics("await-endpoint", node=node, endpoint=wanted, seconds=STEP_SECONDS)) != wanted:
                message = f"the quorum has {found} for voter {node}, not {wanted}"
                raise BedError(message)

    restart_with({**before, **there}, port)
    scene.undo.append(lambda: restart_with(before, CONTROLLER_PORT))
    for other in others if port != CONTROLLER_PORT else ():
        _start_anew(scene, {other: scene.kraft.controllers[other].properties})
    await_voters(scene)


@action
def set_controllers(scene: Scene, properties: Mapping[str, str], *, at_once: bool = False) -> None:
    """Restart all controllers with further properties, one by one and the leader last, or at once; `revert` takes it back.

    PASSWORD in a value stands for that of the user as whom nodes log in.
    """
    servers, leader = quorum(scene)
    before = {node: dict(server.properties) for node, server in servers.items()}
    password = scene.cluster.secured.security.users[BROKER] if scene.cluster.secured else ""
    more = {key: value.replace("PASSWORD", password) for key, value in properties.items()}
    wanted = {node: {**before[node], **more} for node in sorted(servers, key=lambda node: (node == leader, node))}
    for batch in [wanted] if at_once else [{node: wanted[node]} for node in wanted]:
        _start_anew(scene, batch)
        await_voters(scene)
    scene.undo.append(lambda: _start_anew(scene, before))


@action
def reissue_certificate(scene: Scene, **faulty: Any) -> None:  # noqa: ANN401 - YAML
    """Give a voter that follows a certificate that is faulty in this way, and restart it; `revert` gives it a right one."""
    node, *_ = _followers(scene)
    secured, server = scene.cluster.secured, scene.kraft.controllers[node]
    if secured is None:
        message = "this cluster is not secured"
        raise BedError(message)
    if "valid_for" in faulty:
        faulty["valid_for"] = timedelta(days=faulty["valid_for"])
    authority, address = secured.authority, server.host.address

    def issue(wanted: Certificate | None) -> None:
        authority.issue(f"controller-{node}", (address,), wanted)
        _start_anew(scene, {node: server.properties})

    issue(Certificate(**faulty))
    scene.undo.append(lambda: issue(None))
    await_voters(scene)


@action
def forget_name(scene: Scene) -> None:
    """Remove the names of another voter from the hosts file of a follower's host; `revert` restores them."""
    node, other, *_ = _followers(scene)
    server, folder, names = scene.kraft.controllers[node], scene.cluster.folder / "names", scene.kraft.controller_names

    def know(known: Mapping[str, str]) -> None:
        own_names(server.host, folder, hosts=known)
        _start_anew(scene, {node: server.properties})

    gone = scene.kraft.controllers[other].host.address
    know({name: address for name, address in names.items() if address != gone})
    scene.undo.append(lambda: know(names))
    await_voters(scene)


@action
def replace_voter_disk(scene: Scene) -> None:
    """Give a voter that follows an empty disk, formatted as the one of a controller that joins a dynamic quorum."""
    node, *_ = _followers(scene)
    server = scene.kraft.controllers[node]
    kill(server)
    shutil.rmtree(server.properties["log.dirs"])
    scene.kraft.format_without_vote(server)
    shutil.copy(server.config_file, scene.tools.folder / "controller.properties")
    server.launch()


def _followers(scene: Scene) -> list[int]:
    servers, leader = quorum(scene)
    return sorted(node for node in servers if node != leader)


def _start_anew(scene: Scene, properties: Mapping[int, Mapping[str, str]]) -> None:
    """Restart controllers with these properties, at once, and wait for their ports."""
    servers = {node: scene.kraft.controllers[node] for node in properties}
    for server in servers.values():
        server.resume()
        server.signal_stop()
    for node, server in servers.items():
        server.await_end(SOFT_STOP_SECONDS)
        server.properties = dict(properties[node])
        server.launch()
    scene.kraft.await_controllers(servers)


@action
def start_ended(scene: Scene, *, says: str) -> None:
    """Start the controllers and brokers that exited, as the finding says."""
    scene.followed.append(says)
    for server in scene.kraft.controllers.values():
        server.launch()
    scene.cluster.start_brokers(scene.cluster.brokers)


@action
def start_observer(scene: Scene, node: int) -> None:
    """Start a further controller, which has no vote, and write its file where tools read it."""
    server = scene.kraft.start_observer(node)
    shutil.copy(server.config_file, scene.tools.folder / "controller.properties")
    time.sleep(5)


@action
def move_controller(scene: Scene, times: int = 1) -> None:
    """Move the controller to the next broker, or restart the leader of the quorum."""
    for _ in range(times):
        if scene.cluster.zookeeper_connect is not None:
            ids = list(scene.cluster.brokers)
            now = scene.zookeeper.controller_id()
            scene.zookeeper.make_controller(ids[(ids.index(now) + 1) % len(ids)] if now in ids else ids[0])
        else:
            servers, leads = quorum(scene)
            kill(servers[leads])
            servers[leads].launch()
    await_settled(scene)


@action
def raise_controller_epoch(scene: Scene, *, says: str) -> None:
    """Restart the broker that is the controller until /controller_epoch is above that of each partition's state.

    Views are complete at the end only: meanwhile brokers may reject the controller.
    """
    scene.followed.append(says)
    while scene.zookeeper.controller_epoch() <= max(_written_epochs(scene.zookeeper)):
        holder = scene.zookeeper.controller_id()
        if holder is None:
            message = "there is no controller"
            raise BedError(message)
        scene.cluster.brokers[holder].restart()
    await_settled(scene)


@action
def make_controller(scene: Scene, broker: int) -> None:
    """Make a broker the controller."""
    scene.zookeeper.make_controller(broker)


@action
def roll(scene: Scene, *, hard: bool = False) -> None:
    """Restart the brokers one after the other."""
    for _ in rolling_restart(scene.cluster, hard=hard):
        pass


@action
def await_settled(scene: Scene, settle: bool | list[int] = True) -> None:  # noqa: FBT001, FBT002 - from YAML
    """Wait until the views of all brokers, or of those named, are complete."""
    if settle is not False:
        scene.cluster.await_settled(None if settle is True else settle)


@action
def wait(scene: Scene, seconds: float) -> None:  # noqa: ARG001 - as all actions
    """Wait."""
    time.sleep(seconds)


@action
def look(scene: Scene) -> None:
    """Take a snapshot, with which the next audit compares."""
    scene.look()


# --- topics ---


@action
def create_topic(scene: Scene, name: str, assignment: Mapping[int, Sequence[int]], *, settle: bool | list[int] = True) -> None:
    """Create a topic; `revert` deletes it."""
    scene.cluster.create_topic(name, assignment)
    scene.undo.append(lambda: _delete(scene, name))
    await_settled(scene, settle)


@action
def delete_topic(scene: Scene, name: str, *, wait_s: float = 0) -> None:
    """Ask for the deletion of a topic."""
    topics.delete(scene.cluster, name)
    time.sleep(wait_s)


@action
def configure_topic(scene: Scene, topic: str, settings: Mapping[str, str | None]) -> None:
    """Set what a topic sets for itself; `revert` takes the keys away."""
    topics.configure_topic(scene.cluster, topic, settings)
    scene.undo.append(lambda: topics.configure_topic(scene.cluster, topic, dict.fromkeys(settings)))


@action
def configure_brokers(scene: Scene, settings: Mapping[str, str], broker: int | None = None) -> None:
    """Set dynamic settings of a broker, or of all; `revert` takes the keys away."""
    _dynamic(scene, broker, settings)
    scene.undo.append(lambda: _dynamic(scene, broker, dict.fromkeys(settings)))


@action
def reassign(scene: Scene, topic: str, partition: int, replicas: Sequence[int], *, finish: bool = True) -> None:
    """Move a partition; without `finish`, only begin."""
    topics.reassign(scene.cluster, topic, partition, replicas)
    if finish:
        topics.await_reassigned(scene.cluster)
        await_settled(scene)


@action
def shake_leaders(scene: Scene, topic: str, partition: int, replicas: Sequence[int], times: int) -> None:
    """Give a partition another leader again and again, by the order of its replicas."""
    order = list(replicas)
    for _ in range(times):
        order = [*order[1:], order[0]]
        topics.reassign(scene.cluster, topic, partition, order)
        topics.await_reassigned(scene.cluster)
        topics.elect_preferred(scene.cluster)
    topics.reassign(scene.cluster, topic, partition, replicas)
    topics.await_reassigned(scene.cluster)
    topics.elect_preferred(scene.cluster)
    await_settled(scene)


@action
def throttle(scene: Scene, broker: int, rate: str | None = topics.SLOWEST) -> None:
    """Let a broker follow throttled replicas at that many bytes a second."""
    topics.throttle(scene.cluster, broker, rate)


@action
def elect_preferred(scene: Scene) -> None:
    """Elect the preferred leaders."""
    topics.elect_preferred(scene.cluster)
    await_settled(scene)


@action
def produce(scene: Scene, topic: str, partition: int, megabytes: int = 1) -> None:
    """Produce records to a partition."""
    scene.cluster.produce(topic, partition, megabytes)


@action
def hang_transaction(scene: Scene, topic: str, partition: int) -> None:
    """Begin a transaction that no client ends."""
    topics.hang_transaction(scene.cluster, topic, partition)


@action
def limit_clients(scene: Scene, entity: str, limit: str) -> None:
    """Set a quota, both as options of kafka-configs.sh; `revert` removes it."""
    command = f"kafka-configs.sh --bootstrap-server {scene.tools.bootstrap} --alter {entity}"
    scene.tools.demand_as_admin(f"{command} --add-config {limit}")
    scene.undo.append(lambda: scene.tools.demand_as_admin(f"{command} --delete-config {limit.partition('=')[0]}"))


@action
def add_member(scene: Scene, kind: str, group: str, topic: str) -> None:
    """Start a member of a group, of a kind of `group_member`; `revert` ends it."""
    process = start_member(scene.bed, scene.cluster, kind, group, topic)
    scene.undo += [process.wait, process.terminate]  # the last one first


@action
def add_share_member(scene: Scene, group: str, topic: str, *, blocked: bool = False) -> None:
    """Start a member of a share group; `revert` ends it.

    A blocked one follows one that has processed records. Nobody reads what it prints, so its loop waits while it holds others.
    """
    tools, earliest = scene.tools, f"--entity-type groups --entity-name {group} --add-config share.auto.offset.reset=earliest"
    tools.demand_as_admin(f"kafka-configs.sh --bootstrap-server {tools.bootstrap} --alter {earliest}")
    consumer = f"kafka-console-share-consumer.sh --bootstrap-server {tools.bootstrap} --topic {topic} --group {group}"
    quietly = f"{consumer} --formatter-property print.value=false"
    if blocked:
        tools.demand(f"{quietly} --max-messages 2")
    wanted = tools.line(consumer if blocked else quietly)
    printed = subprocess.PIPE if blocked else subprocess.DEVNULL
    process = scene.bed.worker.popen(wanted, stdout=printed, stderr=subprocess.DEVNULL)
    scene.undo += [process.wait, process.kill]  # the last one first


@action
def finalize_feature(scene: Scene, feature: str, level: int, *, upgrade: bool = False) -> None:
    """Finalize a level of a feature."""
    topics.finalize_feature(scene.cluster, feature, level, upgrade=upgrade)


@action
def await_isr(  # noqa: PLR0913 - a step's arguments
    scene: Scene, topic: str, partition: int, isr: Sequence[int], *, ask: int = 0, seconds: float = 60
) -> None:
    """Wait until a broker reports these replicas in sync."""
    deadline = time.monotonic() + seconds
    while sorted(scene.cluster.views([ask])[ask].topics.get(topic, {}).get(partition, {}).get("isr", ())) != sorted(isr):
        if time.monotonic() > deadline:
            message = f"the ISR of {topic}-{partition} is not {isr} after {seconds:.0f} s"
            raise BedError(message)
        time.sleep(LOOK_SECONDS)


# --- network ---


@action
def cut(scene: Scene, pairs: Sequence[Sequence[Any]]) -> None:
    """Cut hosts from the services of others, each pair [from, to]; `revert` heals them."""
    hosts = {**scene.cluster.hosts(), "worker": scene.bed.worker}
    chosen = [(hosts[str(source)], hosts[str(target)]) for source, target in pairs]
    for source, target in chosen:
        scene.bed.cut(source, target)

    def undo() -> None:
        for source, target in chosen:
            scene.bed.heal(source, target)

    scene.notes["cut"] = undo
    scene.undo.append(undo)


@action
def cut_end(scene: Scene) -> None:
    """Heal what `cut` cut, and nothing else."""
    scene.notes.pop("cut")()
    scene.undo.clear()


@action
def isolate(scene: Scene, broker: int) -> None:
    """KRaft: cut a broker from the controllers and the other brokers, both ways; `revert` heals it."""
    cut_from_quorum(scene.bed, scene.kraft, broker)
    scene.undo.append(lambda: heal_quorum(scene.bed, scene.kraft, broker))


@action
def advertise_forward(scene: Scene, brokers: list[int] | None = None) -> None:
    """Let brokers advertise an address that only clients reach."""
    scene.zookeeper.advertise_through_forward(brokers)


@action
def advertise_directly(scene: Scene, brokers: list[int] | None = None, *, says: str = "") -> None:
    """Let brokers advertise their own address."""
    if says:
        scene.followed.append(says)
    scene.zookeeper.advertise_directly(brokers)


@action
def advertise(  # noqa: PLR0913 - a step's arguments
    scene: Scene, broker: int, host: str, *, label: str = "PLAINTEXT", port: int = 9092, settle: bool | list[int] = True
) -> None:
    """Let a broker advertise another host on a listener; `revert` takes it back."""
    own = scene.cluster.brokers[broker].host.address
    listeners = {listener.label: (own, listener.port) for listener in scene.cluster.listeners} | {label: (host, port)}
    text = ",".join(f"{name}://{at}:{number}" for name, (at, number) in listeners.items())
    set_properties(scene, {broker: {"advertised.listeners": text}}, settle=settle)


@action
def second_network(scene: Scene, label: str) -> None:
    """Move a listener to a network between the brokers, which the worker does not reach."""
    port = next(listener.port for listener in scene.cluster.listeners if listener.label == label)
    properties = {}
    for broker in scene.cluster.brokers.values():
        address = f"10.97.0.{10 + broker.id}"
        broker.host.demand(["ip", "addr", "add", f"{address}/24", "dev", "eth0"])
        there = f"{label}://{address}:{port}"
        changed = {}
        for key in ("listeners", "advertised.listeners"):
            listeners = broker.server.properties[key].split(",")
            changed[key] = ",".join(there if listener.startswith(f"{label}://") else listener for listener in listeners)
        properties[broker.id] = changed
    set_properties(scene, properties)


@action
def forward(scene: Scene, address: str, port: int, broker: int) -> None:
    """Forward an address that only the worker reaches to a broker."""
    scene.bed.forward(address, port, scene.cluster.brokers[broker].host.address, scene.cluster.brokers[broker].port)


@action
def balance(scene: Scene, broker: int, address: str, targets: Sequence[int], *, label: str = "CLIENT") -> None:
    """Let a broker advertise an address at which other brokers take turns; `revert` lets it advertise its own."""
    port = next(listener.port for listener in scene.cluster.listeners if listener.label == label)
    scene.bed.forward(address, port, ",".join(scene.cluster.brokers[target].host.address for target in targets), port)
    advertise(scene, broker, address, label=label, port=port)


@action
def cross(scene: Scene, one: int, other: int) -> None:
    """Let two brokers advertise forwards that lead to each other; `revert` lets them advertise themselves."""
    cross_forwards(scene.bed, scene.zookeeper, one, other)
    scene.undo.append(lambda: scene.zookeeper.advertise_directly([one, other]))


@action
def leave_stale(scene: Scene, broker: int) -> None:
    """Make a broker go on leading a partition that another one leads; `revert` heals the cut and restarts it."""
    cluster = scene.zookeeper
    stale_leader(scene.bed, cluster, broker)
    controller = cluster.brokers[int(cluster.controller_id() or 0)].host

    def undo() -> None:
        scene.bed.heal(controller, cluster.brokers[broker].host)
        cluster.restart_brokers({broker: {}})
        cluster.await_settled()
        _delete(scene, "moved")

    scene.undo.append(undo)


@action
def delay(scene: Scene, broker: int, milliseconds: int) -> None:
    """Hold back all that a broker sends, as a saturated network interface does; `revert` ends it."""
    scene.undo.append(scene.bed.delay(scene.cluster.brokers[broker].host, milliseconds))


@action
def stutter(scene: Scene, broker: int, *, stalled: float, running: float) -> None:
    """Let a broker run for a moment only, again and again, as one without CPU time; `revert` ends it."""
    scene.undo.append(_stutter(scene.cluster.brokers[broker].server, stalled, running))


@action
def add_listener(scene: Scene, label: str, port: int, *, says: str) -> None:
    """Add a listener to all brokers, then let the brokers use it between each other, as the finding says."""
    scene.followed.append(says)
    added = {}
    for broker in scene.cluster.brokers.values():
        properties, here = broker.server.properties, f"{label}://{broker.host.address}:{port}"
        added[broker.id] = {key: f"{properties[key]},{here}" for key in ("listeners", "advertised.listeners")}
        known = properties.get("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT")
        added[broker.id]["listener.security.protocol.map"] = f"{known},{label}:PLAINTEXT"
    set_properties(scene, added)
    set_properties(scene, {broker: {"inter.broker.listener.name": label} for broker in added})


@action
def name_hosts(scene: Scene, names: Mapping[str, str], *, worker: bool = True) -> None:
    """Give all hosts of the cluster these names instead of earlier ones; without `worker`, its resolver knows no name."""
    folder = scene.cluster.folder / "names"
    for host in {id(host): host for host in scene.cluster.hosts().values()}.values():
        own_names(host, folder, hosts=names)
    if worker:
        own_names(scene.bed.worker, folder, hosts=names)
    else:
        scene.notes["nameserver"] = Nameserver(scene.bed.worker, {})  # it answers that there is no such name
        own_names(scene.bed.worker, folder, nameservers=[scene.bed.worker.address])


@action
def add_address(scene: Scene, broker: int, address: str) -> None:
    """Give a broker's host a second address."""
    scene.cluster.brokers[broker].host.demand(["ip", "addr", "add", f"{address}/24", "dev", "eth0"])


@action
def second_process(scene: Scene, broker: int, host: int) -> None:
    """Start a second process with the id of a broker on another broker's host, and collect its log too; `revert` ends it."""
    second = start_second_process(scene.cluster, broker, host)
    collected = (
        scene.cluster.brokers[broker].server.log_dir / "server-second.log"
    )  # as where logs are collected by the id of the broker
    collected.symlink_to(second.log_dir / "server.log")

    def undo() -> None:
        kill(second)
        collected.unlink()

    scene.undo.append(undo)
    time.sleep(20)
    describe(scene, logs={"paths": [f"{scene.cluster.folder}/broker-{{broker_id}}/logs/server*.log"]})


# --- security ---


@action
def put_acl(scene: Scene, **acl: str) -> None:
    """Add an ACL; `revert` takes it away."""
    bound = Acl(**acl)
    _acl(scene, bound, "--add")
    scene.undo.append(lambda: _acl(scene, bound, "--remove"))


@action
def drop_auditor(scene: Scene) -> None:
    """Take the auditor's rights away."""
    scene.zookeeper.drop_acls(auditor_grants())
    time.sleep(1)


@action
def drop_user(scene: Scene, user: str) -> None:
    """Take a SCRAM user's credentials away."""
    scene.zookeeper.drop_scram_user(user)


@action
def put_user(scene: Scene, user: str, *, says: str = "") -> None:
    """Put a SCRAM user back with its password."""
    if says:
        scene.followed.append(says)
    secured = scene.cluster.secured
    if secured is None:
        message = "this cluster is not secured"
        raise BedError(message)
    scene.zookeeper.put_scram_user(user, secured.security.users[user])


@action
def heal_security(scene: Scene, broker: int, *, says: str = "") -> None:
    """Give a broker what the cluster's security has for it, and restart it."""
    if says:
        scene.followed.append(says)
    scene.cluster.heal_security(broker)
    scene.undo.clear()


@action
def renew_authority(scene: Scene, *, says: str) -> None:
    """Renew the certificate of the authority, as the finding says."""
    scene.followed.append(says)
    if scene.cluster.secured is None:
        message = "this cluster is not secured"
        raise BedError(message)
    scene.cluster.secured.authority.renew()


# --- ZooKeeper ---


@action
def log_in_to_zookeeper(scene: Scene, *, says: str) -> None:
    """Let each broker log in to ZooKeeper, and restart the brokers one at a time, as the finding says."""
    scene.followed.append(says)
    if scene.cluster.secured is None:
        message = "this cluster is not secured"
        raise BedError(message)
    for broker in scene.cluster.brokers.values():
        broker.server.jvm = scene.cluster.secured.zookeeper_login()
    roll(scene)


@action
def roll_with(scene: Scene, properties: Mapping[str, str], *, says: str) -> None:
    """Set properties of all brokers and restart the brokers one at a time, as the finding says."""
    follow(scene, says)
    for broker in scene.cluster.brokers.values():
        broker.restart(properties)
        await_settled(scene)


@action
def write_znodes(scene: Scene, znodes: Mapping[str, Any]) -> None:
    """Write znodes without a notification of brokers; `revert` restores them."""
    texts = {path: value if value is None or isinstance(value, str) else json.dumps(value) for path, value in znodes.items()}
    before = scene.zookeeper.write_znodes(texts)
    scene.undo.append(lambda: scene.zookeeper.write_znodes(before))


@action
def change_znode(scene: Scene, path: str, fields: Mapping[str, Any]) -> None:
    """Change fields of a znode's JSON without a notification of brokers (null removes one); `revert` restores it."""
    before = scene.zookeeper.write_znodes({path: "{}"})
    changed = json.loads(before[path] or "{}") | dict(fields)
    text = json.dumps({key: value for key, value in changed.items() if value is not None})
    scene.zookeeper.write_znodes({path: text})
    scene.undo.append(lambda: scene.zookeeper.write_znodes(before))


@action
def swell_znode(scene: Scene, path: str, kilobytes: int) -> None:
    """Let the settings of a topic in ZooKeeper grow to this size without a notification of brokers; `revert` restores them."""
    before = scene.zookeeper.write_znodes({path: "{}"})
    held = json.loads(before[path] or '{"version": 1}')
    held["config"] = {**held.get("config", {}), "leader.replication.throttled.replicas": ",".join(["0:0"] * (256 * kilobytes))}
    scene.zookeeper.write_znodes({path: json.dumps(held)})
    scene.undo.append(lambda: scene.zookeeper.write_znodes(before))


@action
def leave_notices(scene: Scene, count: int = 1000) -> None:
    """Leave changes of the configuration of users in ZooKeeper, as a tool that writes them all day; `revert` deletes them."""
    text = json.dumps({"version": 2, "entity_path": "users/nobody"})
    write_znodes(scene, {f"/config/changes/config_change_{9000000000 + number}": text for number in range(count)})


@action
def describe_dead_zookeeper(scene: Scene) -> None:
    """Name a second ZooKeeper server, which does not run, in clusters.yaml; `revert` takes it back."""
    describe(scene, zookeeper=f"{scene.zookeeper.zookeeper_connect},{scene.zookeeper.zookeeper.host.address}:2999")


@action
def grow_ensemble(scene: Scene, *, says: str = "") -> None:
    """Make three ZooKeeper servers of one, which keeps its data, and name them in clusters.yaml."""
    if says:
        scene.followed.append(says)
    servers = scene.zookeeper.grow_ensemble()
    scene.notes["ensemble"] = [server.host for server in servers.values()]
    describe(scene, zookeeper=",".join(f"{server.host.address}:{ZOOKEEPER_PORT}" for server in servers.values()))
    await_settled(scene)


@action
def slow_ensemble(scene: Scene, milliseconds: int, writes: int) -> None:
    """Hold back all that the servers of the grown ensemble send, and write meanwhile; `revert` ends the delay."""
    _begin_statistics(scene)
    scene.undo += [scene.bed.delay(host, milliseconds) for host in scene.notes["ensemble"]]
    scene.zookeeper.load_zookeeper(writes)


@action
def reset_statistics(scene: Scene, *, says: str) -> None:
    """Let the servers of the grown ensemble begin their statistics anew, as the finding says."""
    scene.followed.append(says)
    _begin_statistics(scene)


# --- disks ---


@action
def put_disk(scene: Scene, broker: int, name: str = "disk-1") -> None:
    """Give a broker a second log dir on a small disk of its own."""
    scene.notes["disk"] = add_disk(scene.cluster, broker, name=name)


@action
def fill_disk(scene: Scene, topic: str) -> None:
    """Produce to a topic on that disk until its log dir is offline."""
    disk = scene.notes["disk"]
    disk.fill(*next(partition for partition in disk.partitions if partition[0] == topic))
    time.sleep(2)


@action
def freeze_disk(scene: Scene) -> None:
    """Make that disk read-only and wait until its log dir is offline."""
    disk = scene.notes["disk"]
    disk.make_read_only()
    disk.await_offline(CHECKPOINT_SECONDS)
    time.sleep(2)


@action
def load_disk(scene: Scene, share: float) -> None:
    """Put a file on that disk, so that this share of it is used; `revert` deletes it."""
    disk = scene.notes["disk"]
    host, path = disk.broker.host, f"{disk.path}/ballast.bin"
    host.demand(["fallocate", "-l", f"{int(disk.megabytes * share)}M", path])
    scene.undo.append(lambda: host.demand(["rm", "-f", path]))


@action
def replace_disk(scene: Scene, *, says: str = "") -> None:
    """Replace that disk by an empty one and restart the broker, as the finding says."""
    if says:
        scene.followed.append(says)
    scene.notes["disk"].replace()


@action
def leave_stray(scene: Scene, broker: int, topic: str, partition: int, name: str) -> None:
    """Put a copy of a partition's directory under another name into a broker's log dir, and restart it; `revert` removes it."""
    owner = scene.cluster.brokers[broker]
    data = Path(owner.server.properties["log.dirs"].split(",")[0])
    owner.stop()
    shutil.copytree(data / f"{topic}-{partition}", data / name)
    (data / name / "partition.metadata").unlink(missing_ok=True)
    owner.start()
    await_settled(scene)

    def undo() -> None:
        owner.stop()
        for path in data.glob(f"{name}*"):
            shutil.rmtree(path)
        owner.start()
        await_settled(scene)

    scene.undo.append(undo)


@action
def damage_segment(scene: Scene, broker: int, topic: str, partition: int) -> None:
    """Overwrite the length of the first batch in the oldest segment that a running broker has of a partition."""
    folder = _data(scene, broker) / f"{topic}-{partition}"
    oldest, *newer = sorted(folder.glob("*.log"))
    if not newer:
        message = f"{folder} has one segment, which is not cleaned"
        raise BedError(message)
    with oldest.open("r+b") as segment:
        segment.seek(_LENGTH_OF_BATCH)
        segment.write(bytes(4))


@action
def move_away(scene: Scene, broker: int, topic: str, partition: int, *, says: str) -> None:
    """Stop a broker, move the directory of a partition out of its log dir, and start it: it fetches the partition anew."""
    scene.followed.append(says)
    owner, folder = scene.cluster.brokers[broker], _data(scene, broker)
    owner.stop()
    shutil.move(folder / f"{topic}-{partition}", folder.parent / f"{topic}-{partition}.damaged")
    owner.start()
    await_settled(scene)


def _data(scene: Scene, broker: int) -> Path:
    return Path(scene.cluster.brokers[broker].server.properties["log.dirs"].split(",")[0])


@action
def fence_follower(scene: Scene, topic: str, broker: int) -> None:
    """Let a follower miss two elections of its leader, so that its leader epoch is an old one; `revert` delivers them."""
    cluster = scene.zookeeper
    leader, other = [number for number in cluster.brokers if number != broker][:2]
    cluster.make_controller(leader)
    ends = cluster.brokers[leader].host, cluster.brokers[broker].host
    scene.bed.cut(*ends)
    scene.undo.append(lambda: scene.bed.heal(*ends))
    for order in ([other, leader, broker], [leader, other, broker]):
        topics.reassign(cluster, topic, 0, order)
        topics.await_reassigned(cluster)
        topics.elect_preferred(cluster)


@action
def announce_requests(scene: Scene, broker: int, megabytes: int, count: int) -> None:
    """Open connections to a broker that announce large requests, for which it takes memory; `revert` closes them."""
    owner = scene.cluster.brokers[broker]
    script = [sys.executable, "-I", str(HERE.parent / "large_requests.py")]
    command = [*script, owner.host.address, str(owner.port), str(megabytes), str(count)]
    process = scene.bed.stay(scene.bed.worker, command)
    scene.undo.append(process.kill)


@action
def load_slowly(scene: Scene, broker: int, commits: int) -> None:
    """Fill a partition of __consumer_offsets that a broker alone has, and let it read commits one by one; `revert` ends that."""
    owner = scene.cluster.brokers[broker]
    owner.stop()
    folder = Path(owner.server.properties["log.dirs"].split(",")[0]) / "__consumer_offsets-0"
    for path in folder.iterdir():
        if path.suffix in {".log", ".index", ".timeindex", ".snapshot"}:
            path.unlink()
    write_offset_commits(folder / f"{0:020}.log", commits)
    set_properties(scene, {broker: {"offsets.load.buffer.size": "1"}})


@action
def await_tiered(scene: Scene, topic: str) -> None:
    """Wait until segments of a topic are in the tier, and the first one is deleted at the brokers."""
    tiers.await_tiered(scene.cluster, topic)


# --- beside the cluster ---


@action
def begin_migration(scene: Scene, elections: int) -> None:
    """Let KRaft controllers take over and write to ZooKeeper, and elect them again until their epoch is the higher one."""
    cluster = scene.zookeeper
    before = _written_epochs(cluster)
    moving = Migration(scene.bed, cluster)
    scene.entry["controllers"] = [*cluster.controller_addresses]
    moving.start_controllers()
    moving.prepare_brokers()
    for _ in range(elections):
        moving.restart_controllers()
    moving.prepare_brokers()  # leaders move, and their states carry KRaft's epoch
    if max(_written_epochs(cluster)) <= max(before):
        message = f"no state of a partition has an epoch above {max(before)}"
        raise BedError(message)


def _written_epochs(cluster: Cluster) -> set[int]:
    return {state["controller_epoch"] for state in cluster.partition_states().values()}


@action
def start_mirror(scene: Scene, topic: str) -> None:
    """Mirror a topic from and to a second cluster with MirrorMaker 2."""
    scene.beside.append(mirror(scene.bed, scene.cluster, topic))


# --- the auditor ---


@action
def describe(scene: Scene, **keys: Any) -> None:  # noqa: ANN401 - YAML
    """Change keys of the cluster's entry in clusters.yaml (null takes one away); `revert` restores them."""
    before = dict(scene.entry)
    scene.entry.update(keys)
    for key in [key for key, value in keys.items() if value is None]:
        scene.entry.pop(key)

    def undo() -> None:
        scene.entry.clear()
        scene.entry.update(before)

    scene.undo.append(undo)


@action
def undescribe(scene: Scene, *, says: str) -> None:
    """Undo the changes of clusters.yaml, as the finding says."""
    revert(scene, says=says)


@action
def add_far_vantage(scene: Scene, milliseconds: int) -> None:
    """Let probes start at a further host too, whose packets take longer; `revert` moves it near to the brokers."""
    prefix = next(iter(scene.cluster.brokers.values())).host.address.rpartition(".")[0]
    host = scene.bed.hosts.add(f"{scene.cluster.folder.name}-far", f"{prefix}.5")
    command = ["nsenter", "-t", str(host.holder.pid), "-n", "-m", "--"]
    scene.entry["vantages"] = {**scene.entry["vantages"], "far": {"command": command}}
    scene.undo.append(scene.bed.delay(host, milliseconds))


# --- what findings print ---


@action
def follow(scene: Scene, says: str) -> None:
    """Note that the next steps carry out what the finding asks for in these words."""
    scene.followed.append(says)


@action
def tool(scene: Scene, command: str, *, files: Mapping[str, Any] | None = None) -> None:
    """Run one of Kafka's command line tools, as an operator who breaks something does."""
    _write_files(scene, files)
    scene.tools.demand_as_admin(filled(command, _values(scene, {})))


@action
def printed(  # noqa: PLR0913 - a step's arguments
    scene: Scene,
    code: str,
    command: str,
    *,
    resource: str | None = None,
    fill: Mapping[str, Any] | None = None,
    files: Mapping[str, Any] | None = None,
    again: str | None = None,
) -> None:
    """Run the command that a failing finding prints, with its placeholders filled.

    Args:
        scene: whose newest report has the finding.
        code: of the finding.
        command: a part of the command, to choose it among those printed.
        resource: of the finding; the first failing one of the code otherwise.
        fill: values of placeholders that only the operator knows.
        files: files that the command reads, by name.
        again: an option that replaces ``--execute`` in a second run, repeated until nothing is under way.
    """
    finding = next(
        finding
        for finding in scene.report["findings"]
        if finding["code"] == code and finding["status"] == "FAIL" and resource in {None, finding["resource"]["name"]}
    )
    shown = printed_commands(finding["remediation"])
    chosen = next((printed for printed in shown if command in printed), None)
    if chosen is None:
        message = f"{code} prints no command with {command!r}: {shown}"
        raise BedError(message)
    _write_files(scene, files)
    line = filled(chosen, _values(scene, fill or {}))
    scene.tools.demand(line)
    scene.ran.append(line)
    if again:
        _repeat(scene, line.replace("--execute", again).partition(" --throttle")[0])


def _repeat(scene: Scene, line: str) -> None:
    deadline = time.monotonic() + STEP_SECONDS
    while "still in progress" in scene.tools.demand(line) or "is in progress" in scene.tools.demand(line):
        if time.monotonic() > deadline:
            message = f"{line}: still in progress after {STEP_SECONDS:.0f} s"
            raise BedError(message)
    scene.ran.append(line)


def _values(scene: Scene, fill: Mapping[str, Any]) -> dict[str, str]:
    running = next(broker for broker in scene.cluster.brokers.values() if broker.server.is_running)
    usual = {
        "BROKER:9092": running.address,
        "ZOOKEEPER:2181": scene.cluster.zookeeper_connect or "",
        "CONTROLLER:9093": next(iter(scene.cluster.controller_addresses), ""),
        "BYTES_PER_SECOND": "10000000",
    }
    return {**{str(key): str(value) for key, value in fill.items()}, **usual}


def _write_files(scene: Scene, files: Mapping[str, Any] | None) -> None:
    """Write files that a command reads; ``<disk>`` and ``<data>`` in them are the log dirs of the broker that has a disk."""
    for name, content in (files or {}).items():
        text = json.dumps(content)
        if disk := scene.notes.get("disk"):
            text = text.replace("<disk>", str(disk.path))
            text = text.replace("<data>", disk.broker.server.properties["log.dirs"].split(",")[0])
        (scene.tools.folder / name).write_text(text)


def _acl(scene: Scene, acl: Acl, change: str) -> None:
    if scene.cluster.zookeeper_connect is not None:
        (scene.zookeeper.put_acls if change == "--add" else scene.zookeeper.drop_acls)([acl])
        time.sleep(1)
        return
    resource = "--cluster" if acl.resource == "Cluster" else f"--{acl.resource.lower()} {acl.name}"
    whom = f"--{acl.permission.lower()}-principal {acl.principal}"
    force = " --force" if change == "--remove" else ""
    scene.tools.demand_as_admin(
        f"kafka-acls.sh --bootstrap-server {scene.tools.bootstrap} {change} {whom} --operation {acl.operation} {resource}{force}"
    )


def _dynamic(scene: Scene, broker: int | None, settings: Mapping[str, str | None]) -> None:
    where = f"--entity-name {broker}" if broker is not None else "--entity-default"
    added = ",".join(f"{key}={value}" for key, value in settings.items() if value is not None)
    taken = ",".join(key for key, value in settings.items() if value is None)
    change = " ".join(filter(None, [f"--add-config {added}" if added else "", f"--delete-config {taken}" if taken else ""]))
    scene.tools.demand_as_admin(
        f"kafka-configs.sh --bootstrap-server {scene.tools.bootstrap} --alter --entity-type brokers {where} {change}"
    )


def _begin_statistics(scene: Scene) -> None:
    for host in scene.notes["ensemble"]:
        scene.bed.worker.demand(["bash", "-c", f"exec 3<>/dev/tcp/{host.address}/{ZOOKEEPER_PORT}; echo srst >&3; cat <&3"])


def _delete(scene: Scene, name: str) -> None:
    with contextlib.suppress(BedError):  # it may be gone already
        topics.delete(scene.cluster, name)
    time.sleep(1)


def _stutter(server: Server, stalled: float, running: float) -> Callable[[], None]:
    """Stop and continue a process in turn, in a thread, as long as it runs; return what ends that."""
    ended = threading.Event()

    def turns() -> None:
        while not ended.wait(running) and server.is_running:
            server.suspend()
            ended.wait(stalled)
            server.resume()

    thread = threading.Thread(target=turns, name=f"stutter {server.name}")
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end


def _launch(scene: Scene, servers: Iterable[Server]) -> None:
    for server in servers:
        server.launch()
    scene.cluster.await_settled(seconds=2 * STEP_SECONDS)


def _text(properties: Mapping[str, Any]) -> dict[str, str | None]:
    return {key: None if value is None else str(value) for key, value in properties.items()}
