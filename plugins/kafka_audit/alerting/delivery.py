"""Send what an audit calls for, once a channel, and keep what was sent in the store."""

import contextlib
import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kafka_audit.alerting import messages, policy, rendering
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.dedupe_state import DedupeState
from kafka_audit.alerting.messages import AlertMessage, Links
from kafka_audit.alerting.shared_causes import RunTroubles, shared_causes, shared_lines
from kafka_audit.model.errors import StoreError, UsageError
from kafka_audit.model.text import our_line
from kafka_audit.store.alerts import AlertFiles


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A channel that sends messages.

    Attributes:
        name: of its dedupe state in the store.
        needs: what has to be set up for it.
        send: sends a message; raises `UsageError` where a setting is missing, else one of `failures`.
        target: returns the recipient, without secrets; None where the channel is not set up, and nothing is to be sent. Raises
            `UsageError` as `send` does.
        failures: what `send` raises when a message does not go out; `smtplib` and `urllib` raise kinds of OSError.
    """

    name: str
    needs: str
    send: Callable[[AlertMessage], None]
    target: Callable[[], str | None]
    failures: tuple[type[Exception], ...] = (OSError,)


log = logging.getLogger(__name__)


SHARED_CAUSES = "_shared"
"""Name of the dedupe state on causes that clusters share; no cluster's name starts with an underscore."""


def deliver(  # noqa: PLR0913 -- whom, what, and where it is kept
    channel: Channel,
    scope: str,
    result: AuditResult,
    links: Links,
    *,
    limits: AlertLimits,
    store_root: str | os.PathLike[str],
    run: RunTroubles | None = None,
) -> None:
    """Send what a channel has to be sent after an audit, and keep that it was sent.

    Args:
        channel: a channel that is set up.
        scope: name of the dedupe state: the cluster's, or one for all clusters.
        result: the audit.
        links: where to read on.
        limits: what counts, and when to remind.
        store_root: of the store that keeps the state.
        run: what all clusters of the run have; a cause that they share is not alerted here.

    Raises:
        UsageError: the channel's settings lack something.
        Exception: one of the channel's `failures`: a message did not go out, and will with the next audit.
    """
    files = AlertFiles(store_root, channel.name)
    with _turn(files, scope):
        before, shared = _state(files, scope), {}
        if run is not None and run.troubles:
            shared = shared_lines(shared_causes(run.troubles, policy.open_marks(_state(files, SHARED_CAUSES))), result.cluster)
        events, after = policy.decide_alert(before, result, datetime.now(UTC), limits, shared)
        _send(channel, files, scope, (before, after), events, messages.messages(events, result, links, shared))


def deliver_shared(
    channel: Channel, run: RunTroubles, links: Links, *, limits: AlertLimits, store_root: str | os.PathLike[str]
) -> None:
    """Send what a channel has to be sent about causes that clusters of a run share; arguments and errors as for `deliver`."""
    files = AlertFiles(store_root, channel.name)
    with _turn(files, SHARED_CAUSES):
        before = _state(files, SHARED_CAUSES)
        events, after = policy.decide_shared(before, run, datetime.now(UTC), limits)
        causes = shared_causes(run.troubles, policy.open_marks(before))
        _send(channel, files, SHARED_CAUSES, (before, after), events, messages.shared_messages(events, causes, links))


@contextlib.contextmanager
def _turn(files: AlertFiles, scope: str) -> Iterator[None]:
    """Keep the audits of other runs from alerting on the same at the same time; where the store refuses that, go on."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(files.turn(scope))
        except StoreError as error:
            log.warning("an audit that ends at the same time may send the same message: %s", error)
        yield


def _send(  # noqa: PLR0913, PLR0917 -- what goes out, and where it is kept
    channel: Channel,
    files: AlertFiles,
    scope: str,
    states: tuple[DedupeState, DedupeState],
    events: Sequence[policy.AlertEvent],
    outgoing: Sequence[AlertMessage],
) -> None:
    """Send messages, and keep the state after them; `states` are before and after."""
    before, after = states
    for number, message in enumerate(outgoing, start=1):
        channel.send(message)
        log.info("%s: %s", channel.name, rendering.subject(message))
        if number < len(outgoing):  # a process that is killed here must not send this one again
            _keep(files, scope, policy.partly_sent(before, after, events[number:]))
    _keep(files, scope, after)


def _keep(files: AlertFiles, scope: str, state: DedupeState) -> None:
    try:
        files.write(scope, state.to_json().encode())
    except StoreError as error:
        log.warning("the alerting state was not stored, so the message will be sent again: %s", error)


def _state(files: AlertFiles, scope: str) -> DedupeState:
    """Return what was sent; nothing where that cannot be read: a message too many is better than none."""
    try:
        text = files.read(scope)
        return DedupeState() if text is None else DedupeState.from_json(text)
    except (StoreError, ValueError) as error:
        log.warning("%s: the alerting state is unknown: %s", files.place(scope), our_line(error))
        return DedupeState()


@dataclass(frozen=True, kw_only=True)
class ChannelTest:
    """Result of a test message, in one line, and whether the channel has a connection, a whole one, and accepted it."""

    text: str
    configured: bool = True
    incomplete: bool = False
    delivered: bool = False


def send_test_message(channel: Channel) -> ChannelTest:
    """Send a message that says that it is a test."""
    try:
        target = channel.target()
    except UsageError as error:
        return ChannelTest(text=f"{channel.name}: {error}", incomplete=True)
    if target is None:
        return ChannelTest(text=f"{channel.name}: not configured, {channel.needs} does not exist", configured=False)
    number = secrets.token_hex(3)
    message = AlertMessage(
        key=number,
        first=True,
        subject=f"[TEST] kafka-audit on {socket.gethostname()}: test alert {number}",
        facts=("Sent by `kafka-audit alert-test`. No cluster was audited.",),
    )
    try:
        channel.send(message)
    except UsageError as error:
        return ChannelTest(text=f"{channel.name}: {error}", incomplete=True)
    except channel.failures as error:
        return ChannelTest(text=f"{channel.name}: not delivered to {target}: {error or type(error).__name__}")
    return ChannelTest(text=f"{channel.name}: test alert {number} was accepted for {target}", delivered=True)
