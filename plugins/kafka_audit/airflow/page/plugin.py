"""The plugin: by the entry point of the installed package, else by `plugins/kafka_audit_plugin.py`."""

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
import logging
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from airflow.plugins_manager import AirflowPlugin

import kafka_audit
from kafka_audit.airflow import environment
from kafka_audit.airflow.page import links


@functools.cache
def _app() -> "ASGIApp":
    from kafka_audit.airflow.page.routes import app  # noqa: PLC0415 -- the import is deferred on purpose

    return app


class DeferredApp:
    """An ASGI app that is made when it is first called."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a call on."""
        await _app()(scope, receive, send)


_FASTAPI_APPS: list[dict[str, Any]] = [{"app": DeferredApp(), "url_prefix": links.PREFIX, "name": "kafka-audit"}]
_EXTERNAL_VIEWS: list[dict[str, Any]] = [
    {
        "name": "Kafka audit",
        "href": f"{links.base_path()}{links.PREFIX}/",
        "destination": "nav",
        "category": "browse",
        "url_route": "kafka-audit",
    },
    {
        "name": "Kafka audit",
        "href": f"{links.base_path()}{links.PREFIX}/run?dag={{DAG_ID}}&run={{RUN_ID}}",
        "destination": "dag_run",
        "url_route": environment.REPORT_TAB,
    },
]

log = logging.getLogger(__name__)


class KafkaAuditPlugin(AirflowPlugin):
    """Reports in the Airflow UI: in the menu and next to every DAG run."""

    name = "kafka_audit"
    fastapi_apps = _FASTAPI_APPS
    external_views = _EXTERNAL_VIEWS


def has_entry_point() -> bool:
    """Return whether the installed package registers the plugin: Airflow reports a second registration as an import error."""
    try:
        entry_points = distribution("kafka-audit").entry_points
    except PackageNotFoundError:
        return False
    return any(entry_point.group == "airflow.plugins" for entry_point in entry_points)


def warn_of_unused_copy(plugins: Path) -> None:
    """Log a warning if a plugins folder contains another version of the package than the one that is imported."""
    used, unused = Path(kafka_audit.__file__).resolve().parent, plugins.resolve() / "kafka_audit"
    source = unused / "__init__.py"
    if used == unused or not source.is_file():
        return
    version = re.search(r'^__version__ = "([^"\n]{1,50})"', source.read_text(encoding="utf-8"), re.MULTILINE)
    found = version[1] if version else "unknown"
    if found != kafka_audit.__version__:
        log.warning("kafka-audit %s in %s is used, version %s in %s is not", kafka_audit.__version__, used, found, unused)
