"""SCRAM users where there is no ZooKeeper to list them: those of brokers, of ACLs and of quotas, asked by name at one broker.

Never all users: DescribeUserScramCredentials without names ends in a NullPointerException and a time-out (3.9.1, 4.3.0).
"""

from collections.abc import Iterable, Sequence
from functools import partial

from kafka.protocol.admin import DescribeClientQuotasRequest, DescribeUserScramCredentialsRequest

from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation, demand
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED, MAY_DESCRIBE, Asking
from kafka_audit.configuration.authorization import ANY_PRINCIPAL, OF_ACLS, OF_QUOTAS
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Acl, BrokerView, PropertyLogin, QuorumView, Quota, QuotaUser, Row, ScramUser
from kafka_audit.model.tables.registry import DEFAULT, LIMITS

OPERATION, QUOTAS = "DescribeUserScramCredentials", "DescribeClientQuotas limits"

_NOT_FOUND = 91  # RESOURCE_NOT_FOUND: the user has no credential
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_MOST, _USER = 100, "User:"
_NEEDS = {CLUSTER_DENIED: MAY_DESCRIBE}


def read_scram_users(rows: Iterable[Row], protocol: str, sample: int, options: ClientOptions) -> tuple[Row, ...]:
    """Return the credentials of those users, and a row for each read; none without a leader or names to ask for.

    Args:
        rows: of the snapshot, server.properties included.
        protocol: of the listener where brokers were asked.
        sample: number of the newest sample.
        options: how to ask.
    """
    found = list(rows)
    logins = [login for login in found if isinstance(login, PropertyLogin) and login.side == "client"]
    of_files = sorted({login.username for login in logins if login.mechanism.startswith("SCRAM-")})[:_MOST]
    principals = {row.principal for row in found if isinstance(row, Acl) and row.principal.startswith(_USER)} - {ANY_PRINCIPAL}
    of_acls = sorted(principal.removeprefix(_USER) for principal in principals) if len(principals) <= _MOST else []
    target = _target(found, protocol, sample)
    if target is None:
        return ()
    asking = Asking(sample=sample, observer=target.observer, target=target.address)
    reads: list[Row] = []
    reported: dict[Row, None] = {}
    quotas = asking.read(reads, QUOTAS, partial(_quotas, target, options)) or ()
    reported |= dict.fromkeys(quotas)
    named = sorted({row.user for row in quotas if isinstance(row, QuotaUser)})
    of_quotas = named if len(named) <= _MOST else []
    for operation, users in ((OPERATION, of_files), (OF_ACLS, of_acls), (OF_QUOTAS, of_quotas)):
        if users:
            reported |= dict.fromkeys(asking.read(reads, operation, partial(_ask, target, users, options)) or ())
    return (*reads, *reported)


def _ask(target: Target, users: Sequence[str], options: ClientOptions) -> tuple[ScramUser, ...]:
    with Conversation(*target.dialled, options.at(target)) as conversation:
        return _describe(conversation, users)


def _quotas(target: Target, options: ClientOptions) -> tuple[QuotaUser | Quota, ...]:
    with Conversation(*target.dialled, options.at(target)) as conversation:
        version = conversation.version(DescribeClientQuotasRequest)
        if version is None:
            raise ReadError(ReadFailure.NOT_SUPPORTED, None, "Kafka 2.6 or later")
        answer = conversation.ask(DescribeClientQuotasRequest(version=version, components=[], strict=False))
        demand(answer.error_code, answer.error_message, {CLUSTER_DENIED: "DescribeConfigs on Cluster"})
        entries = answers.each(answer.entries or (), "quotas")
        conversation.add_rows(len(entries))
        found: list[QuotaUser | Quota] = []
        for entry in entries:
            of = {one.entity_type: one.entity_name for one in answers.each(entry.entity, "who has a quota")}
            names = {kind: name and answers.checked_name(name, f"a {kind}") for kind, name in of.items()}
            if name := names.get("user"):
                found.append(QuotaUser(user=name))
            user, client, address = (names[kind] or DEFAULT if kind in names else None for kind in ("user", "client-id", "ip"))
            found += [
                Quota(user=user, client_id=client, address=address, key=limit.key, limit=limit.value)
                for limit in answers.each(entry.values, "limits")
                if limit.key in LIMITS
            ]
        return tuple(found)


def _target(rows: Sequence[Row], protocol: str, sample: int) -> Target | None:
    """Return the address of a broker that reported the quorum: the required right is the same, so it logs no denial."""
    may = {view.observer for view in rows if isinstance(view, QuorumView) and view.sample == sample}
    views = [view for view in rows if isinstance(view, BrokerView) and view.sample == sample and view.observer in may]
    for view in sorted(views, key=lambda view: view.broker_id):
        host, _, port = view.address.rpartition(":")  # a view came from there, so it can be dialled
        listener, host = view.listener, host.removeprefix("[").removesuffix("]")
        return Target(broker_id=view.broker_id, listener=listener, protocol=protocol, host=host, port=int(port), via=None)
    return None


def _describe(conversation: Conversation, users: Sequence[str]) -> tuple[ScramUser, ...]:
    if conversation.version(DescribeUserScramCredentialsRequest) is None:
        raise ReadError(ReadFailure.NOT_SUPPORTED, None, "Kafka 2.7 or later")
    kind = DescribeUserScramCredentialsRequest.UserName
    answer = conversation.ask(DescribeUserScramCredentialsRequest(version=0, users=[kind(name=user) for user in users]))
    demand(answer.error_code, answer.error_message, _NEEDS)
    results = answers.each(answer.results, "results")
    for item in results:
        if item.error_code != _NOT_FOUND:
            demand(item.error_code, item.error_message, _NEEDS)
    conversation.add_rows(
        sum(len(answers.each(result.credential_infos, "credentials")) for result in results if result.error_code != _NOT_FOUND)
    )
    return tuple(
        ScramUser(user=answers.checked_name(result.user, "a user"), mechanism=_MECHANISMS[info.mechanism])
        for result in results
        if result.error_code != _NOT_FOUND
        for info in answers.each(result.credential_infos, "credentials")
        if info.mechanism in _MECHANISMS
    )
