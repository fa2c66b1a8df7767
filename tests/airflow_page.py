"""Names that the tests of the page share."""

from urllib.parse import urlencode

BROKEN = ["20260914T170000Z-prod-0001", "20260914T180000Z-prod-0002"]
QUIET = "20260914T180000Z-quiet.eu-0003"
RUN = "manual__2026-09-14T18:00:00+00:00"


def of_run(**asked):
    """Return the address that the tab of a DAG run opens."""
    return f"/run?{urlencode({'dag': 'kafka_audit', 'run': RUN, **asked})}"


EVERY_PAGE = [
    "/",
    "/page.css",
    "/page.js",
    "/clusters/prod",
    "/clusters/prod/timeline",
    f"/snapshots/{BROKEN[0]}",
    *(f"/snapshots/{BROKEN[0]}/findings.{form}" for form in ("json", "html", "md", "sarif")),
    "/checks",
    "/checks/KA302",
    of_run(),
    of_run(cluster="prod"),
]
