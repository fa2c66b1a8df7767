"""Who may see a page: a user of Airflow's own login who may see plugins, and may read the DAG `kafka_audit`.

Where KAFKA_AUDIT_REPORT_DAGS names DAGs by cluster, the right to read those decides instead, cluster by cluster. Airflow's own
auth managers have one right for all assets; all auth managers have permissions for single DAGs, by name or by team.

An app that a plugin mounts inherits no protection, so every route carries these. In a version of Airflow where they are gone no
user gets in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from fastapi import Depends, HTTPException, Request, status

from kafka_audit.airflow import environment, internals
from kafka_audit.airflow.page.links import DAG

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
"""For every response; a report as a separate file has its own policy too, and both apply."""


@dataclass(frozen=True)
class Visible:
    """The clusters whose reports a user sees.

    Attributes:
        dags: the DAG that decides, by cluster, `*` for all others; empty: all clusters are seen.
        readable: DAGs that the user may read.
    """

    dags: Mapping[str, str]
    readable: frozenset[str]

    def __contains__(self, cluster: object) -> bool:
        """Return whether reports on a cluster are seen; a cluster without an entry is hidden."""
        return not self.dags or self.dags.get(str(cluster), self.dags.get(EVERY_OTHER)) in self.readable


EVERY_OTHER = "*"


def _visible(request: Request) -> Visible:
    visible: Visible = request.state.kafka_audit_visible  # `required` puts it there; a request without it fails
    return visible


VisibleClusters = Annotated[Visible, Depends(_visible)]


def refuse_every_user() -> NoReturn:
    """Refuse every user."""
    detail = "kafka-audit cannot check permissions in this version of Airflow, so access is denied"
    raise HTTPException(status.HTTP_403_FORBIDDEN, detail)


def required() -> Sequence[Any]:
    """Return the dependencies that every route must have."""
    security = internals.page_security(DAG)
    if security is None:
        return [Depends(refuse_every_user)]

    def may_read_reports(request: Request, user: Annotated[object, Depends(security.get_user)]) -> None:
        dags = environment.report_dags()
        if dags:
            # A DAG that is not there is not among them: of its team nothing is known.
            readable = security.readable_dags(user)
            if not readable & set(dags.values()):
                raise HTTPException(status.HTTP_403_FORBIDDEN, "Forbidden")
        else:
            security.require_dag(request, user)
            readable = frozenset()
        request.state.kafka_audit_visible = Visible(dags, readable)

    return [Depends(security.may_see_plugins), Depends(may_read_reports)]
