"""SCRAM users where there is no ZooKeeper to list them: those that brokers log in as, asked for by name at one broker.

Never all users: DescribeUserScramCredentials without names ends in a NullPointerException and a time-out (3.9.1, 4.3.0).
"""

import time
from collections.abc import Iterable, Sequence

from kafka.protocol.admin import DescribeUserScramCredentialsRequest

from kafka_audit.collect.reads import CLUSTER_DENIED, MAY_DESCRIBE, Asking, ReadError
from kafka_audit.collect.targets import Target, split_address
from kafka_audit.collect.wire import ClientOptions, Conversation, demand
from kafka_audit.model.tables import BrokerView, PropertyLogin, QuorumView, Row, ScramUser

OPERATION = "DescribeUserScramCredentials"

_NOT_FOUND = 91  # RESOURCE_NOT_FOUND: the user has no credential
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_MOST = 100
_NEEDS = {CLUSTER_DENIED: MAY_DESCRIBE}


def read(rows: Iterable[Row], protocol: str, sample: int, options: ClientOptions) -> tuple[Row, ...]:
    """Return the credentials of those users, and how asking ended; nothing where files name no such login or nobody leads.

    Args:
        rows: of the snapshot, server.properties included.
        protocol: of the listener where brokers were asked.
        sample: number of the newest look.
        options: how to ask.
    """
    found = list(rows)
    logins = [one for one in found if isinstance(one, PropertyLogin) and one.side == "client"]
    users = sorted({one.username for one in logins if one.mechanism.startswith("SCRAM-")})[:_MOST]
    target = _target(found, protocol, sample)
    if not users or target is None:
        return ()
    started = time.monotonic()
    asking = Asking(sample=sample, observer=target.observer, target=target.address)
    try:
        host, port = target.dialled
        with Conversation(host, port, options.at(target)) as talk:
            told = _describe(talk, users)
    except ReadError as error:
        return (asking.failed(OPERATION, error, started),)
    return (asking.answered(OPERATION, started), *told)


def _target(rows: Sequence[Row], protocol: str, sample: int) -> Target | None:
    """Return the address of a broker that told of the quorum: the right to ask is the same, so it logs no refusal."""
    may = {one.observer for one in rows if isinstance(one, QuorumView) and one.sample == sample}
    views = [one for one in rows if isinstance(one, BrokerView) and one.sample == sample and one.observer in may]
    for view in sorted(views, key=lambda one: one.broker_id):
        host, port = split_address(view.address, "the address of a broker")
        return Target(broker_id=view.broker_id, listener=view.listener, protocol=protocol, host=host, port=port, via=None)
    return None


def _describe(talk: Conversation, users: Sequence[str]) -> tuple[ScramUser, ...]:
    if talk.version(DescribeUserScramCredentialsRequest) is None:
        words = "not supported"
        raise ReadError(words, None, "Kafka 2.7 or later")
    kind = DescribeUserScramCredentialsRequest.UserName
    answer = talk.ask(DescribeUserScramCredentialsRequest(version=0, users=[kind(name=one) for one in users]))
    demand(answer.error_code, answer.error_message, _NEEDS)
    for one in answer.results or ():
        if one.error_code != _NOT_FOUND:
            demand(one.error_code, one.error_message, _NEEDS)
    return tuple(
        ScramUser(user=one.user or "", mechanism=_MECHANISMS[info.mechanism])
        for one in answer.results or ()
        for info in one.credential_infos or ()
        if info.mechanism in _MECHANISMS
    )
