"""The settings of a deployment: an environment variable each, and an option in the section `[kafka_audit]` of airflow.cfg.

`environment` reads them; `provider_info` shows Airflow the section. Every process of Airflow imports this module, so it imports
nothing of Airflow.
"""

from dataclasses import dataclass

SECTION = "kafka_audit"
_PREFIX = "KAFKA_AUDIT_"


@dataclass(frozen=True, kw_only=True)
class Option:
    """A setting.

    Attributes:
        variable: the environment variable, which takes precedence over the option.
        meaning: a sentence.
        default: what holds without both; None: see `meaning`.
        example: a value.
        kind: the type, in the words of Airflow's schema.
        is_sensitive: the value may contain a secret, so Airflow masks it and can read it from a command or a secrets backend.
        in_section: whether Airflow's configuration has the option.
    """

    variable: str
    meaning: str
    default: str | None = None
    example: str | None = None
    kind: str = "string"
    is_sensitive: bool = False
    in_section: bool = True

    @property
    def name(self) -> str:
        """Return the name in the section: that of the variable without prefix, in lower case."""
        return self.variable.removeprefix(_PREFIX).lower()


_ALL = (
    Option(
        variable="KAFKA_AUDIT_CLUSTERS",
        meaning="The cluster file, or a folder of cluster files. Default: clusters.yaml in AIRFLOW_HOME.",
        example="/etc/kafka-audit/clusters.yaml",
    ),
    Option(
        variable="KAFKA_AUDIT_STORE",
        meaning="The root of snapshots and reports, a path or URL. Default: kafka-audit-store in AIRFLOW_HOME.",
        example="s3://bucket/kafka-audit",
    ),
    Option(
        variable="KAFKA_AUDIT_SCHEDULE",
        meaning="The schedule of the DAG kafka_audit: a cron expression, or none.",
        default="*/15 * * * *",
        example="@hourly",
    ),
    Option(
        variable="KAFKA_AUDIT_WATCH",
        meaning="on, or seconds between readings: an audit when a cluster is suspected; see docs/watch.md.",
        default="off",
        example="on",
    ),
    Option(
        variable="KAFKA_AUDIT_WATCH_GRACE_SECONDS",
        meaning="Seconds that a broker may be away in a restart before it is suspected.",
        default="30",
        kind="float",
    ),
    Option(
        variable="KAFKA_AUDIT_WATCH_MINUTES",
        meaning="Minutes between two audits that suspicions request, at least.",
        default="5",
        kind="float",
    ),
    Option(
        variable="KAFKA_AUDIT_FAIL_ON",
        meaning="The severity from which a gate fails: critical, high, medium, low or info.",
        default="high",
        example="critical",
    ),
    Option(
        variable="KAFKA_AUDIT_MIN_COVERAGE",
        meaning="The share of asked reads that must be answered, 0 to 1.",
        default="1.0",
        example="0.9",
        kind="float",
    ),
    Option(
        variable="KAFKA_AUDIT_NOTIFIERS",
        meaning="Further notifiers for alerts, a JSON list; see docs/alerts.md.",
        is_sensitive=True,
    ),
    Option(
        variable="KAFKA_AUDIT_REMIND_HOURS",
        meaning="Hours after which an open incident is sent again; 0: never.",
        default="24",
        kind="float",
    ),
    Option(
        variable="KAFKA_AUDIT_APPROVAL_HOURS",
        meaning="Hours after which a change without approval is rejected.",
        default="24",
        kind="float",
    ),
    Option(
        variable="KAFKA_AUDIT_PROPOSED_ROOT",
        meaning="The worker's folder of files that a form may propose. Default: proposed, next to the cluster file.",
        example="/etc/kafka-audit/proposed",
    ),
    Option(
        variable="KAFKA_AUDIT_REPORT_DAGS",
        meaning="The DAG whose readers see a cluster's reports, a JSON object; see docs/page.md. Default: kafka_audit for all.",
        example='{"prod": "payments_etl", "*": "kafka_audit"}',
    ),
    Option(
        variable="KAFKA_AUDIT_RETENTION",
        meaning="Snapshots kept of a cluster without keep: 400, 365d or 365d,9000; see docs/history.md. Default: 700.",
        example="365d,9000",
        in_section=False,  # the console script reads it without Airflow, too, and both must keep the same
    ),
    Option(
        variable="KAFKA_AUDIT_POOL",
        meaning="The Airflow pool of tasks that read a cluster; it bounds how many run at a time. Default: none, 4 in a run.",
        example="kafka_audit",
    ),
    Option(
        variable="KAFKA_AUDIT_SPARK_MEMORY",
        meaning="The heap of the Spark driver and of each executor.",
        default="2g",
    ),
)

OPTIONS = {option.variable: option for option in _ALL}
"""By variable."""
