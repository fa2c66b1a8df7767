"""Who may see a page: whoever Airflow's own login knows, and may see plugins, and may read the DAG `kafka_audit`.

An app that a plugin mounts inherits no protection, so every route carries these. They are no public interface of Airflow; in a
version where they are gone nobody gets in.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from fastapi import Depends, HTTPException, status

from kafka_audit.airflow_glue.page.links import DAG

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;"
        " base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every answer; a report that is shown as a file of its own carries its own policy as well, and both hold."""


def nobody() -> NoReturn:
    """Refuse everybody."""
    told = "kafka-audit cannot ask this version of Airflow who you are, so it shows nothing"
    raise HTTPException(status.HTTP_403_FORBIDDEN, told)


def required() -> Sequence[Any]:
    """Return the dependencies that every route must have."""
    try:
        from airflow.api_fastapi.auth.managers.models.resource_details import AccessView  # noqa: PLC0415 -- may be gone
        from airflow.api_fastapi.core_api.security import requires_access_dag, requires_access_view  # noqa: PLC0415 -- too

        checks = (requires_access_view(AccessView.PLUGINS), requires_access_dag("GET", param_dag_id=DAG))
    except (ImportError, AttributeError, TypeError):
        return [Depends(nobody)]
    return [Depends(check) for check in checks]
