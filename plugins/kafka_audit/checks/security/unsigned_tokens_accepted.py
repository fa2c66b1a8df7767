from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers

_ENABLED, _MECHANISM = "sasl.enabled.mechanisms", "OAUTHBEARER"
_UNSECURED = "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"


@check(code="KA415", severity=Severity.HIGH, by_files=True)
def unsigned_tokens_accepted(view: ClusterView) -> Judgements:
    """A listener accepts OAuth tokens without a signature."""
    between = view.inter_broker
    yield from no_brokers(view)
    for broker in between.brokers:
        who = f"broker {broker}"
        listeners = between.settings.get(broker, "listeners")
        if not listeners.known:
            needs = f"server.properties of {who} (`properties` in the cluster file), or DescribeConfigs on Cluster"
            yield view.unknown(f"broker/{broker}", "its listeners are unknown", needs, who=who)
            continue
        names = [entry.partition("://")[0].strip() for entry in (listeners.value or "").split(",")]
        found = [
            *_of_listeners(view, broker, [name for name in names if (between.protocol(broker, name) or "").startswith("SASL")])
        ]
        yield from found
        if not found:
            yield view.not_applicable(f"broker/{broker}", f"no listener enables {_MECHANISM}", who=who)


def _of_listeners(view: ClusterView, broker: int, listeners: list[str]) -> Judgements:
    settings, who = view.inter_broker.settings, f"broker {broker}"
    for listener in listeners:
        enabled = settings.at(broker, listener, _ENABLED)
        if enabled.known and _MECHANISM not in [part.strip() for part in (enabled.value or "").split(",")]:
            continue
        key = f"listener.name.{listener.lower()}.{_MECHANISM.lower()}.sasl.server.callback.handler.class"
        handler = settings.get(broker, key)
        resource = f"broker/{broker}/listener/{listener.upper()}"
        at = settings.first_set(broker, key, f"listener.name.{listener.lower()}.{_ENABLED}", _ENABLED)
        facts = {"broker": broker, "who": who, "listener": listener.upper(), "key": at, "missing": key}
        if enabled.known and (handler.state == "unset" or handler.value == _UNSECURED):
            yield view.judge(resource, Status.FAIL, facts)
        elif enabled.known and (handler.value or handler.state == "hidden"):
            yield view.judge(resource, Status.PASS, facts)
        else:
            error = f"{key if enabled.known else _ENABLED} is unknown"
            yield view.unknown(resource, error, f"server.properties of {who} (`properties` in the cluster file)", facts)
