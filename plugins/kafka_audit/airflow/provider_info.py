"""What Airflow reads from the entry point `apache_airflow_provider`, in the words of its `provider_info.schema.json`.

Every process of Airflow imports this module, so it imports only the table of settings. The plugin has an entry point of its own.
"""

from collections.abc import Sequence
from typing import Any

from kafka_audit.airflow.options import OPTIONS, SECTION, Option

_INTEGRATION = "Kafka audit"
_OPERATORS = "kafka_audit.airflow.operators"
_SENSORS = [f"{_OPERATORS}.{name}_sensor" for name in ("clean", "restart", "step")]


def _field(label: str, description: str, choices: Sequence[str] = ()) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": ["string", "null"]}
    return {"label": label, "description": description, "schema": schema | ({"enum": [*choices]} if choices else {})}


_FIELDS = {
    "security_protocol": _field("Security protocol", "Default: PLAINTEXT", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]),
    "sasl_mechanism": _field(
        "SASL mechanism",
        "Requires login and password, except GSSAPI. OAUTHBEARER: client ID and secret with a token endpoint, or a cloud",
        ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER"],
    ),
    "sasl_oauthbearer_token_endpoint_url": _field("Token endpoint", "OAUTHBEARER: URL where tokens are fetched (OIDC)"),
    "sasl_oauthbearer_scope": _field("Token scope", "OAUTHBEARER: scopes to request, separated by blanks"),
    "sasl_oauthbearer_extensions": _field("SASL extensions", "OAUTHBEARER: name=value,name=value"),
    "https_ca_location": _field("CA file of the token endpoint", "PEM file on the workers; empty: the authorities of the system"),
    "msk_region": _field("AWS region", "OAUTHBEARER with Amazon MSK (IAM); empty: the region in the bootstrap servers"),
    "google_cloud": _field("Google Cloud", "OAUTHBEARER with the workers' credentials; Google's names are recognized", ["true"]),
    "azure_scope": _field("Azure scope", "OAUTHBEARER with the workers' credentials; empty: that of Event Hubs"),
    "ssl_ca_location": _field("CA file", "PEM file on the workers; empty: the authorities of the system"),
    "ssl_certificate_location": _field("Client certificate", "PEM file on the workers"),
    "ssl_key_location": _field("Client key", "PEM file on the workers, without a password"),
}
"""Names without dots, which `settings.connection` converts to those of librdkafka."""


def _option(option: Option) -> dict[str, Any]:
    return {
        "description": f"{option.meaning} The variable {option.variable} takes precedence.",
        "version_added": "0.1.0",
        "type": option.kind,
        "example": option.example,
        "default": option.default,
        "sensitive": option.is_sensitive,
    }


def get_provider_info() -> dict[str, Any]:
    """Return what the package adds to Airflow."""
    return {
        "package-name": "kafka-audit",
        "name": _INTEGRATION,
        "description": "Audits Kafka clusters: compares the views of ZooKeeper, of each broker, and of the network.",
        "connection-types": [
            {
                "connection-type": "kafka_audit",
                "hook-class-name": "kafka_audit.airflow.hook.KafkaAuditHook",
                "hook-name": "Kafka audit",
                "ui-field-behaviour": {
                    # Airflow 3.3.2 answers Bad Request to a test of a connection without a port, so the form has it.
                    "hidden-fields": ["schema"],
                    "relabeling": {"host": "Bootstrap servers"},
                    "placeholders": {"host": "b1.example.com,b2.example.com", "port": "9092"},
                },
                "conn-fields": _FIELDS,
            }
        ],
        "config": {
            SECTION: {
                "description": "Settings of kafka-audit; each is also an environment variable.",
                "options": {option.name: _option(option) for option in OPTIONS.values() if option.in_section},
            }
        },
        "integrations": [{"integration-name": _INTEGRATION, "tags": ["service"]}],
        "operators": [{"integration-name": _INTEGRATION, "python-modules": [f"{_OPERATORS}.audit_operator"]}],
        "sensors": [{"integration-name": _INTEGRATION, "python-modules": _SENSORS}],
        "triggers": [
            {
                "integration-name": _INTEGRATION,
                "python-modules": [
                    f"{_OPERATORS}.clean_sensor",
                    f"{_OPERATORS}.restart_sensor",
                    "kafka_audit.airflow.schedule.suspect_trigger",
                ],
            }
        ],
        "task-decorators": [{"name": "kafka_audit", "class-name": f"{_OPERATORS}.decorator.kafka_audit_task"}],
        "notifications": ["kafka_audit.airflow.notifier.KafkaAuditNotifier"],
        "extra-links": ["kafka_audit.airflow.page.links.AuditReport"],
        "asset-uris": [{"schemes": ["x-kafka-audit"], "handler": None}],
    }
