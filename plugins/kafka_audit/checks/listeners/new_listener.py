"""Lines of server.properties that add a listener for brokers alone: what is there stays, and what is unknown is not invented."""

from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.inter_broker import PROTOCOLS
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries, parts, protocols_by_listener
from kafka_audit.model.commands import Line, remark, setting
from kafka_audit.model.text import is_plain_word

_MAP = "listener.security.protocol.map"
_NAMES = ("INTERNAL", "REPLICATION", "BROKERS", "INTER_BROKER")
_FIRST_PORT = 9094
_AS_NOW = "AS_IT_IS_NOW"
_EVERY_HOST = frozenset({"0.0.0.0", "localhost", "127.0.0.1", "::", "::1"})  # noqa: S104 -- compared, not bound


def new_listener(view: ClusterView, broken: AdvertisedEndpoint, instead: Mapping[str, str]) -> tuple[Line, ...]:
    """Return what to add to the file of the broker that advertises an endpoint, for a first and a second rolling restart.

    `instead` is what clients get as address, by listener, where what the broker advertises is wrong for them, too.
    """
    return tuple(_NewListener(view, broken, instead).lines())


class _NewListener:
    """A listener as the inter-broker listener that an endpoint is of, with another name, port and address."""

    def __init__(self, view: ClusterView, broken: AdvertisedEndpoint, instead: Mapping[str, str]) -> None:
        self._view, self._broken, self._broker, self._instead = view, broken, broken.broker_id, instead
        self._present = view.endpoints.of(broken.broker_id)
        self._controllers = tuple(filter(None, (self._known(CONTROLLERS) or "").replace(" ", "").split(",")))

    def lines(self) -> Iterator[Line]:
        name, port, bound = self._free_name(), self._free_port(), self._bound()
        protocol = self._broken.protocol or "SECURITY_PROTOCOL"
        yield remark("first rolling restart, here for broker {broker}", broker=self._broker)
        yield setting(INSTEAD, f"{name}://0.0.0.0:{port},{bound}")
        yield setting(KEY, f"{name}://{self._own_host(bound)}:{port},{self._advertised()}")
        yield setting(_MAP, f"{name}:{protocol},{self._mapped()}")
        if protocol != "PLAINTEXT":
            yield from self._secured(f"listener.name.{self._broken.listener.lower()}.", f"listener.name.{name.lower()}.")
        yield remark("second rolling restart")
        yield setting("inter.broker.listener.name", name)

    def _known(self, key: str) -> str | None:
        return self._view.settings.get(self._broker, key).value

    def _is_unset(self, key: str) -> bool:
        return self._view.settings.get(self._broker, key).state == "unset"

    def _bound(self) -> str:
        """Return `listeners` as it is: behind a forward, the port that is registered is not the one that is bound."""
        if (value := self._known(INSTEAD)) is not None:
            return value
        if not self._is_unset(INSTEAD):
            return _AS_NOW
        registered = ",".join(f"{endpoint.listener}://0.0.0.0:{endpoint.port}" for endpoint in self._present)
        return "PLAINTEXT://:9092" if self._view.kraft else registered

    def _advertised(self) -> str:
        if (value := self._known(KEY)) is not None:
            return ",".join(f"{name}://{self._instead[name]}" if name in self._instead else part for name, part in parts(value))
        ends = {endpoint.listener: endpoint.address for endpoint in self._present} | {**self._instead}
        listed = {name: f"{name}://{address}" for name, address in ends.items()}
        names = [*listed]
        if self._view.kraft:
            bound = {INSTEAD: self._known(INSTEAD), CONTROLLERS: self._known(CONTROLLERS)}
            names = [entry.listener for entry in entries(bound)] if self._is_unset(KEY) else []
        return ",".join(listed[name] for name in names) if names and {*names} <= listed.keys() else _AS_NOW

    def _mapped(self) -> str:
        """Return the map as it is, with the listeners of controllers: they have a default only while the map is not set."""
        value = self._known(_MAP)
        if value is None and self._view.kraft and not (self._is_unset(_MAP) and self._controllers):
            return _AS_NOW
        mapped = dict(self._of_names()) if value is None else protocols_by_listener(value)
        missing = [name for name in self._controllers if canonical_listener(name) not in mapped]
        default = ",".join(f"{name}:{protocol}" for name, protocol in mapped.items())
        return ",".join((value or default, *(f"{name}:{name if name in PROTOCOLS else 'PLAINTEXT'}" for name in missing)))

    def _of_names(self) -> Iterator[tuple[str, str]]:
        """Yield the listeners of a broker without a map: registered with their protocols, or named after them."""
        if self._view.kraft:
            yield from ((name, name) for name, _ in parts(self._bound()) if name in PROTOCOLS)
        else:
            yield from ((endpoint.listener, endpoint.protocol or endpoint.listener) for endpoint in self._present)

    def _secured(self, old: str, new: str) -> Iterator[Line]:
        """Yield the security of the old listener for the new one; what Kafka or a file hides stays to be copied."""
        settings = self._view.settings
        if self._broker not in settings.brokers:
            yield remark("each line that begins with {old} again, beginning with {new}", old=old, new=new)
            return
        known: Mapping[str, object] = settings.files.get(self._broker) or settings.answers.get(self._broker, {})
        listener = self._broken.listener
        hidden = f"AS_FOR_{listener}" if is_plain_word(listener) else "AS_FOR_THE_OLD_LISTENER"
        for key in sorted(key for key in known if key.startswith(old)):
            yield setting(f"{new}{key.removeprefix(old)}", self._known(key) or hidden)

    def _free_name(self) -> str:
        held = {canonical_listener(name) for name, _ in parts(self._known(INSTEAD) or "")}
        held |= {endpoint.listener for endpoint in self._view.endpoints.known}
        held |= {*protocols_by_listener(self._known(_MAP) or ""), *map(canonical_listener, self._controllers)}
        return next((name for name in _NAMES if name not in held), "NEW_LISTENER")

    def _free_port(self) -> int:
        held = {endpoint.port for endpoint in self._view.endpoints.known} | set(self._bound_ports())
        return next(port for port in range(_FIRST_PORT, 65536) if port not in held)

    def _bound_ports(self) -> Iterable[int]:
        """Yield the ports of all listeners that settings name: those of controllers are registered nowhere."""
        settings = self._view.settings
        for broker in settings.brokers:
            found = entries({INSTEAD: settings.get(broker, INSTEAD).value})
            yield from (entry.port for entry in found if entry.port is not None)

    def _own_host(self, bound: str) -> str:
        """Return the host that the broker binds to, where it names one: the others reach it there, past any forward."""
        hosts = (entry.host for entry in entries({INSTEAD: bound}) if entry.listener == self._broken.listener)
        host = next(hosts, None)
        if host and host not in _EVERY_HOST:
            return f"[{host}]" if ":" in host else host
        return f"HOST_OF_BROKER_{self._broker}"
