"""The login of the auditor in these tests, and what a broker that is asked with it makes of it."""

from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.collect.brokers.broker_view import BrokerAsker
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.model.cluster import Limits, Security, Tls
from kafka_audit.model.secrets import Secrets

PASSWORD = "open-sesame-73"  # noqa: S105 -- of a fake
SECRETS = Secrets({"AUDITOR": PASSWORD}, {})
AMPLE = Limits(read_s=300.0, settle_s=0.2, audit_s=1800.0)
"""A busy machine computes SCRAM for long."""


def login(mechanism="SCRAM-SHA-512", protocol="SASL_SSL", ca_file=None, **others):
    """Return what the cluster file says of it."""
    tls = Tls(ca_file=str(ca_file)) if ca_file else None
    own = {"username": "auditor", "password_env": "AUDITOR", "tls": tls}
    return Security(protocol=protocol, mechanism=mechanism, **own | others)


def ask(where, described, secrets=SECRETS, logins=None, read_s=300.0):
    """Return the rows of a broker that is asked at an endpoint."""
    logins = logins or ClusterLogins(described, secrets)
    return BrokerAsker([where], 1, ClientOptions(read_s=read_s, logins=logins), ViewBook()).ask().rows
