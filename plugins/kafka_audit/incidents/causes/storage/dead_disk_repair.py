"""A failed disk: consumers of the moved partitions, ways to find their producers, and the remedy."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.incidents.causes.repair import do_not, prove
from kafka_audit.incidents.causes.rule import Case
from kafka_audit.model import quoting
from kafka_audit.model.commands import Command, Line, command, remark
from kafka_audit.model.finding import Evidence, Step
from kafka_audit.model.tables import GroupMember
from kafka_audit.model.text import clean, counted, listing

_SHOWN = 5


def readers(case: Case, partitions: Iterable[tuple[str, int]]) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
    """Return consumer groups that read these partitions as evidence, and what is not known of consumers."""
    wanted = {f"{topic}-{number}" for topic, number in partitions}
    groups: dict[str, list[GroupMember]] = defaultdict(list)
    for row in case.view.snapshot.of(GroupMember):
        if wanted & set(row.partitions):
            groups[row.group].append(row)
    lines = [_group(name, members, wanted) for name, members in sorted(groups.items())]
    if len(lines) > _SHOWN:
        more = Evidence(
            observer="count", text=f"and {len(lines) - _SHOWN} more consumer groups read partitions whose leader moved"
        )
        lines[_SHOWN:] = [more]
    failed = [r for r in case.view.last_reads if r.operation == "DescribeGroups" and r.outcome == "failed"]
    if not failed:
        return tuple(lines), ()
    subject = listing(sorted({observer_name(read.observer) for read in failed}))
    needs = next((read.needs for read in failed if read.needs), "an answer to ListGroups and DescribeGroups")
    return tuple(lines), (
        f"Not known: consumer groups of {subject} ({clean(failed[0].error or 'no answer')}). To know: {clean(needs)}.",
    )


def _group(name: str, members: Sequence[GroupMember], wanted: set[str]) -> Evidence:
    clients = listing(sorted({f"{row.client_id or 'no client id'} at {row.host or 'an unknown host'}" for row in members}), 3)
    reads = listing(sorted({partition for row in members for partition in row.partitions} & wanted), 3)
    text = f"reads {reads}, whose leader moved: {counted(len(members), 'member')}, {clients}"
    return Evidence(observer=f"consumer group {clean(name, 60)}", text=text)


def who_writes(case: Case, broker: int) -> str:
    """Return how to find the producers, which no read-only API lists."""
    ports = sorted({endpoint.port for endpoint in case.view.endpoints.of(broker)}) or [9092]
    filters = " or ".join(f"sport = :{port}" for port in ports)
    connected = command("ss -tnp state established {filters}", filters=f"( {filters} )")
    return (
        f"Not known: which producers still send to broker {broker}; no read-only API lists them. To know: on its host "
        f"{quoting.plain_prose((connected,))} lists connected clients; `kafka.request.logger` at DEBUG and the client-id "
        "metrics of quotas name the client ids of Produce requests."
    )


def dead_disk_steps(case: Case, broker: int, paths: Sequence[str], *, pinned: bool, leaderless: int) -> tuple[Step, ...]:
    """Return what to do, in order."""
    address = next((endpoint.address for endpoint in case.view.endpoints.of(broker)), "BROKER:9092")
    return (
        Step(
            kind="see",
            text=f"See it yourself (reads only; the last commands on the host of broker {broker}).",
            commands=(
                command(
                    "kafka-log-dirs.sh --bootstrap-server {address} --describe --broker-list {broker}",
                    address=address,
                    broker=broker,
                ),
                *(command("df -h {path}", path=path) for path in paths[:3]),
                command("grep -E 'Error while .* in dir|Stopping serving logs in dir' server.log | tail -5"),
                *(_traffic(broker) if pinned else ()),
            ),
        ),
        *(_free_the_clients(broker) if pinned else ()),
        *(_save_first(broker, address, leaderless) if leaderless else ()),
        Step(
            kind="quick" if not pinned else "lasting",
            text=f"Replace the disk or free space on it, mount it at the same path, and restart broker {broker}: it fetches the "
            "replicas from their leaders. Then move the leaders back.",
            commands=(
                *_format(case, broker),
                command(
                    "kafka-leader-election.sh --bootstrap-server {address} --election-type preferred --all-topic-partitions",
                    address=address,
                ),
            ),
            cost=f"A restart of broker {broker}, and the copy of its replicas over the network.",
        ),
        *(
            (
                Step(
                    kind="lasting", text="Upgrade the clients: sarama to 1.43.3 or later, Filebeat to a release that contains it."
                ),
            )
            if pinned
            else ()
        ),
        prove(case),
    )


def _traffic(broker: int) -> tuple[Line, ...]:
    """Return what tells producers that retry from followers that catch up: only the latter need a broker that sends."""
    shows = "producers that retry, not replication: broker {broker} receives at full rate, and no other broker sends more"
    return remark(shows, broker=broker), command("sar -n DEV 5 3")


def _save_first(broker: int, address: str, leaderless: int) -> tuple[Step, ...]:
    """Return what comes before an empty disk where the dead one holds the only replicas in sync."""
    lost = f"the records of {counted(leaderless, 'partition')} without leader are lost"
    return (
        do_not(
            f"start broker {broker} with an empty disk before these are saved: {lost}. The broker leads an empty log, and the "
            "followers truncate to it."
        ),
        Step(
            kind="quick",
            text="Copy their partition directories from the failed disk, or start another broker that was in sync.",
            commands=(
                command("kafka-topics.sh --bootstrap-server {address} --describe --unavailable-partitions", address=address),
            ),
        ),
    )


def _format(case: Case, broker: int) -> tuple[Command, ...]:
    """Return what makes a new disk fit for a KRaft broker, which does not start with an empty log dir."""
    if not case.view.kraft:
        return ()
    settings = case.view.settings
    roles, voters = settings.get(broker, "process.roles"), settings.get(broker, "controller.quorum.voters")
    dynamic = "controller" in (roles.value or "") and voters.state == "unset"
    flag = " --no-initial-controllers" if dynamic else ""
    template = f"kafka-storage.sh format --ignore-formatted{flag} --cluster-id {{cluster}} --config server.properties"
    return (command(template, cluster=case.view.snapshot.cluster_id),)


def _free_the_clients(broker: int) -> tuple[Step, ...]:
    return (
        Step(
            kind="quick",
            text=f"Restart the producers that still fail, or restart broker {broker} now: both refresh their metadata.",
            cost="A restart of the broker moves its other leaders too. It starts without the failed disk if another log dir "
            "works.",
        ),
    )
