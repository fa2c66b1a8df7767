"""One connection to one address, with the API versions of the broker there.

One kafka-python connection manager per address: a manager keeps the first broker's API versions for all its connections, and a
mixed-version cluster would be asked in the wrong dialect. Nothing higher up is used: KafkaAdminClient refuses to start where
Metadata lists no brokers, which is the very fault to be seen, and then asks any node it likes.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self, overload

from kafka.errors import for_code
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from kafka_audit import __version__
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins, ListenerSecurity
from kafka_audit.clients.failures import of_report
from kafka_audit.clients.protocol.kafka_errors import as_read_error
from kafka_audit.clients.protocol.kafka_python import Manager
from kafka_audit.clients.protocol.raw_requests import RawRequest
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.sasl import register
from kafka_audit.clients.silenced import filter_loggers, silenced
from kafka_audit.clients.sockets import Failure, allowed, resolve
from kafka_audit.clients.targets import Target
from kafka_audit.compare.addresses import address_text
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.read_failure import KAFKA_ERRORS, ReadFailure

CLIENT = "kafka-audit"

MAX_BYTES = 128 * 1024 * 1024
"""Largest answer taken: Metadata of nearly three million partitions.

A TLS alert, read as a size, is 352 MB and so is refused at once."""


@dataclass(frozen=True, kw_only=True)
class ClientOptions:
    """Options: `listener_security` for one address, which `at` finds in `logins`; `budget` bounds all requests."""

    read_s: float
    max_bytes: int = MAX_BYTES
    budget: Budget = field(default_factory=Budget, repr=False)
    logins: ClusterLogins = field(default_factory=lambda: ClusterLogins(Cluster(name="none"), {}), repr=False)
    listener_security: ListenerSecurity = field(default_factory=ListenerSecurity)

    def at(self, target: Target) -> "ClientOptions":
        """Return the options for a target; raises ReadError if the cluster file does not allow it."""
        seconds = self.budget.demand_time(self.read_s)
        return replace(self, listener_security=self.logins.listener_security(target, seconds))

    def part(self, seconds: float) -> "ClientOptions":
        """Return the same with an earlier end."""
        return replace(self, budget=self.budget.part(seconds))


class Conversation:
    """A connection to one address; a context manager.

    Attributes:
        apis: offered range of versions by API key, as ApiVersions says.
        lost: why the connection is gone, None while it holds.
    """

    def __init__(self, host: str, port: int, options: ClientOptions) -> None:
        """Prepare; `__enter__` connects."""
        self.apis: dict[int, tuple[int, int]] = {}
        self.lost: ReadError | None = None
        self._options = options
        self._place = host, port
        with silenced():
            self._net = NetworkSelector(client_id=CLIENT, slow_task_threshold_secs=0)
            try:
                self._manager = Manager(
                    self._net,
                    options.budget,
                    options.listener_security.scram,
                    bootstrap_servers=[address_text(host, port)],
                    client_id=CLIENT,
                    client_software_name=CLIENT,
                    client_software_version=__version__,
                    receive_message_max_bytes=options.max_bytes,
                    request_timeout_ms=round(options.read_s * 1000),
                    **options.listener_security.kafka,
                )
            except BaseException:  # an address that is none; raised on
                self._net.close()
                raise
        self._connection: Any = None

    def __enter__(self) -> Self:
        """Resolve, connect, ask for ApiVersions, log in if `listener_security` requires it; raises ReadError."""
        security = self._options.listener_security
        try:
            seconds = self._options.budget.demand_time(self._options.read_s)
            with security.attempt(seconds), silenced(), as_read_error(security):
                self._manager.take(self._resolved())
                self._manager.run(self._connect)
        except BaseException:  # `with` does not call __exit__ for it; raised on
            self.__exit__(None, None, None)
            raise
        return self

    def _resolved(self) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the addresses to dial: those that were checked, so that a later answer of a name server has no effect."""
        host, port = self._place
        budget = self._options.budget
        try:
            return allowed(resolve(host, port, budget.demand_time(self._options.read_s)), named=budget.excepts(host, port))
        except Failure as failure:
            _, error, _, needs = failure.step
            kind, text = of_report(error or "")
            raise ReadError(kind, f"{address_text(host, port)}: {text}", needs, error=text) from None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connection and its selector."""
        with silenced():
            if self._connection is not None:
                self._connection.answered()
            self._manager.close()
            self._net.close()

    async def _connect(self) -> None:
        timeout_ms = self._options.budget.demand_time(self._options.read_s) * 1000
        self._connection = self._manager.get_connection("bootstrap-0", timeout_ms=timeout_ms)
        await self._connection
        self.apis = dict(self._connection.broker_version_data.api_versions)

    @property
    def offers(self) -> bool:
        """Whether the other end has answered ApiVersions, which it does before a login."""
        return self._connection is not None and self._connection.api_versions is not None

    @property
    def api_versions(self) -> Any:  # noqa: ANN401 -- kafka-python's messages are untyped
        """The answer to ApiVersions."""
        return self._connection.api_versions

    def version(self, request: type, lowest: int = 0) -> int | None:
        """Return the highest version of a request that both sides support, None if there is none from `lowest` on."""
        offered = self.apis.get(request.API_KEY)  # type: ignore[attr-defined] # kafka-python makes its classes from JSON
        if offered is None:
            return None
        highest = min(offered[1], request.max_version)  # type: ignore[attr-defined] # see above
        return highest if highest >= max(offered[0], lowest) else None

    @overload
    def ask(self, request: RawRequest) -> memoryview: ...
    @overload
    def ask(self, request: Any) -> Any: ...  # noqa: ANN401 -- see below
    def ask(self, request: Any) -> Any:
        """Send a request and return its answer, after the throttle that an earlier answer announced.

        The answer to a `RawRequest` is its bytes, as a view of the buffer that received them: readers of bytes take a copy.

        Raises:
            ReadError: no answer; once the connection is gone, at once and with the same words. While a throttle lasts that is
                longer than this read may take, at once, too; the connection stays.
        """
        if self.lost is not None:
            raise self.lost
        self._connection.answered()
        try:
            timeout_ms = self._wait_out_throttle(self._options.budget.demand_time(self._options.read_s)) * 1000
            with silenced(), as_read_error(self._options.listener_security):
                return self._manager.run(self._connection.send_request, request, timeout_ms)
        except ReadError as error:
            if self._connection.closed:
                self.lost = error
            raise

    def note_throttle(self, throttle_ms: int) -> None:
        """Note how long the broker throttles after an answer that was left as bytes, so that the next request waits."""
        self._connection.note_throttle(throttle_ms)

    def add_rows(self, count: int, size: int = 0) -> None:
        """Count rows that an answer becomes, of so many bytes, before they are made; raises ReadError over `limits.rows`."""
        self._options.budget.add_rows(count, size)

    @property
    def budget(self) -> Budget:
        """The audit's."""
        return self._options.budget

    def _wait_out_throttle(self, seconds: float) -> float:
        """Wait until the broker takes requests again; return what is left of so many seconds. Raises ReadError if none is."""
        wait = float(self._connection.throttled_until) - time.monotonic()
        if wait <= 0:
            return seconds
        if wait >= seconds:
            message = f"throttled by the broker for {self._connection.throttled_ms} ms"
            raise ReadError(ReadFailure.THROTTLED, message, "a higher request quota for the auditor's user or client id")
        time.sleep(wait)
        return seconds - wait

    def ask_metadata(self, version: int, topics: list[str] | None = None) -> memoryview:
        """Return the body of a Metadata answer undecoded, for all topics (None: in a `turn` of the budget) or these.

        Topics are never created by asking: allow_auto_topic_creation is False, always. Raises ReadError.
        """
        request = MetadataRequest(version=version, topics=topics, allow_auto_topic_creation=False)
        raw = RawRequest(request, MetadataResponse, MetadataRequest.API_KEY, version)
        body = self.ask(raw)
        if topics is None:
            self._options.budget.note_answer(len(body))
        return body


def error_name(code: int) -> str:
    """Return Kafka's name of an error code, e.g. CLUSTER_AUTHORIZATION_FAILED."""
    name = getattr(for_code(code), "message", None)
    return f"error {code}" if name in {None, "UNKNOWN"} else str(name)


def demand(code: int, message: str | None, needs: Mapping[str, str], otherwise: str | None = None) -> None:
    """Raise ReadError for an error code, with Kafka's name of it and what is missing: by that name in `needs`, or `otherwise`."""
    if code:
        name = error_name(code)
        failure = KAFKA_ERRORS.get(code, ReadFailure.KAFKA_ERROR)
        raise ReadError(failure, message, needs.get(name, otherwise), error=name)


register(CLIENT)
filter_loggers("kafka")
