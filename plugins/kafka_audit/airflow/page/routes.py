"""The routes of the pages. Links are relative, so that they work below any base path; every answer goes through `access`."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta

from fastapi import FastAPI, HTTPException, Request, status
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from kafka_audit import settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.page import access, errors, links, migration_reports, runs
from kafka_audit.airflow.page.access import VisibleClusters
from kafka_audit.airflow.page.report_cache import ReportCache
from kafka_audit.checks import catalogue
from kafka_audit.model.errors import AuditError, SnapshotError, UsageError
from kafka_audit.model.report import Report
from kafka_audit.model.text import clean
from kafka_audit.report import formats, openmetrics
from kafka_audit.report.afterwards import as_it_ended
from kafka_audit.report.digest import Digest
from kafka_audit.report.html import cluster as cluster_page
from kafka_audit.report.html import pages, timeline
from kafka_audit.report.html.cluster_filter import ClusterFilter
from kafka_audit.report.html.filters import Wanted
from kafka_audit.report.html.templating import asset
from kafka_audit.report.state import INCIDENT
from kafka_audit.store.history import History
from kafka_audit.store.manifest import cluster_of

# A redirect to the same path without its slash would be made of the Host header, which any client chooses.
app = FastAPI(
    title="kafka-audit",
    docs_url=None,
    redoc_url=None,
    openapi_url=None,
    redirect_slashes=False,
    dependencies=access.required(),
)
cache = ReportCache()


@app.middleware("http")
async def protect(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Put the headers of `access` on every answer, refusals and errors included."""
    answer = await call_next(request)
    for name, value in access.HEADERS.items():
        answer.headers[name] = value
    return answer


@app.exception_handler(StarletteHTTPException)
async def show_http_error(request: Request, error: StarletteHTTPException) -> HTMLResponse:
    """Say in a sentence why there is no page."""
    titles = {401: "Login required", 403: "Access denied", 404: "Page not found"}
    title = titles.get(error.status_code, "The page cannot be shown")
    texts = {
        401: "Log in to Airflow, then open this page again.",
        403: (
            f"This page requires permissions to see plugins and to read the DAG {links.DAG}, or the DAG of a cluster."
            f" {error.detail}"
        ),
    }
    text = texts.get(error.status_code, str(error.detail))
    return HTMLResponse(pages.notice_page(title, text, up=_up(request)), status_code=error.status_code)


@app.exception_handler(AuditError)
async def show_audit_error(request: Request, error: AuditError) -> HTMLResponse:
    """Say what kind of trouble there is; the error itself names paths and settings, and goes to the log."""
    missing = isinstance(error, SnapshotError)
    page = pages.notice_page("The page cannot be shown", errors.sentence(error), up=_up(request))
    return HTMLResponse(page, status_code=404 if missing else 500)


@app.exception_handler(Exception)
async def show_unexpected_error(request: Request, error: Exception) -> HTMLResponse:
    """Say that there is a bug or a report that no version wrote; this answer passes by `protect`."""
    page = pages.notice_page("The page cannot be shown", errors.sentence(error), up=_up(request))
    return HTMLResponse(page, status_code=500, headers=access.HEADERS)


@app.get("/page.css")
def style() -> Response:
    """Return the style of all pages."""
    return Response(asset("page.css"), media_type="text/css")


@app.get("/page.js")
def script() -> Response:
    """Return the script that no page depends on."""
    return Response(asset("page.js"), media_type="text/javascript")


@app.get("/", response_class=HTMLResponse)
def show_overview(request: Request, visible: VisibleClusters) -> str:
    """Show all clusters at a glance."""
    root = environment.store_root()
    known = cache.snapshots(root)
    glances: list[pages.Glance] = []
    problems: list[str] = []
    labels = _labels(problems)
    names = sorted(name for name in {*known, *labels} if name in visible)
    run = runs.newest_audit()
    failed, run_link = runs.failed_clusters(run, names), links.of_run(run.run_id) if run else ""
    for name in names:
        digests, damaged = cache.digests(root, known.get(name, ()), pages.TREND, environment.min_coverage())
        problems += damaged
        link = f"clusters/{name}"
        glances.append(
            pages.Glance(
                cluster=name,
                link=link,
                digests=digests,
                labels=labels.get(name, {}),
                failed=failed.get(name),
                run_link=run_link,
            )
        )
    notice = "An audit is running." if run is not None and run.state in {"running", "queued"} else ""
    wanted = ClusterFilter.of(request.query_params.multi_items())
    return pages.overview_page(glances, now=datetime.now(UTC), up="./", problems=problems, notice=notice, wanted=wanted)


@app.get("/clusters/{name}", response_class=HTMLResponse)
def show_cluster(request: Request, visible: VisibleClusters, name: str) -> str:
    """Show the newest report on a cluster."""
    newest, problems = _digests(visible, name, 1)
    if not newest:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"There is no report of cluster {clean(name)}.")
    document = _document(visible, newest[0].snapshot_id)
    return _report(request, document, newest=True, notice=" ".join(problems))


@app.get("/snapshots/{snapshot_id}", response_class=HTMLResponse)
def show_snapshot(request: Request, visible: VisibleClusters, snapshot_id: str) -> str:
    """Show the report on one snapshot."""
    document = _document(visible, snapshot_id)
    newest, _ = _digests(visible, document.cluster, timeline.COLUMNS)
    is_newest = bool(newest) and newest[0].snapshot_id == snapshot_id
    later = [digest for digest in reversed(newest) if digest.snapshot_id > snapshot_id]
    shown, notice = as_it_ended(document, later, newest[0]) if later else (document, "")
    return _report(request, shown, newest=is_newest, notice=notice)


@app.get("/snapshots/{snapshot_id}/findings.{form}")
def raw(visible: VisibleClusters, snapshot_id: str, form: str) -> Response:
    """Return a report as a file: JSON, HTML, Markdown, SARIF or OpenMetrics."""
    render = formats.FILES.get(form)
    if render is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"The formats of a report are {', '.join(formats.FILES)}.")
    content = render(_document(visible, snapshot_id))
    headers = {"Content-Disposition": f'attachment; filename="{snapshot_id}.{form}"'}
    return Response(content, media_type=formats.MEDIA[form], headers=headers)


@app.get("/metrics")
def metrics(visible: VisibleClusters) -> Response:
    """Return the numbers of each cluster's newest report, for Prometheus."""
    unreadable: list[str] = []

    def documents() -> Iterator[Report]:
        for name in sorted(name for name in cache.snapshots(environment.store_root()) if name in visible):
            newest, problems = _digests(visible, name, 1)
            try:
                yield from (_document(visible, digest.snapshot_id) for digest in newest)
            except SnapshotError as error:
                problems = [errors.sentence(error)]
            unreadable.extend([name] if problems else [])

    text = openmetrics.openmetrics(documents(), unreadable)
    return Response(text, media_type=formats.MEDIA["openmetrics"])


@app.get("/clusters/{name}/timeline", response_class=HTMLResponse)
def show_history(  # noqa: PLR0913, PLR0917 -- a query
    visible: VisibleClusters, name: str, a: str = "", b: str = "", before: str = "", until: str = ""
) -> str:
    """Show a cluster's snapshots side by side, and what changed between two of them, which may be on other pages of it."""
    before = _day_after(until) or before
    newest, problems = _digests(visible, name, timeline.COLUMNS + 1, before)
    digests = newest[: timeline.COLUMNS][::-1]
    if not digests:
        when = " before this day" if until else ""
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"There is no report of cluster {clean(name)}{when}.")
    ids = [digest.snapshot_id for digest in digests]
    chain = _between(name, a, b) or digests[-2:]
    compared = None
    if len(chain) > 1:
        try:
            first, last = (_document(visible, digest.snapshot_id) for digest in (chain[0], chain[-1]))
            compared = timeline.compare_reports(first, last, chain[1:])
        except (SnapshotError, LookupError, TypeError, ValueError, AttributeError) as error:
            problems = [*problems, f"The reports cannot be compared. {errors.sentence(error)}"]
    return pages.history_page(
        name,
        digests,
        up="../../",
        here=f"../../clusters/{name}",
        compared=compared,
        ends=(chain[0], chain[-1]),
        before=before,
        older=ids[0] if len(newest) > timeline.COLUMNS else "",
        problems=problems,
    )


@app.get("/checks", response_class=HTMLResponse)
def show_catalogue(visible: VisibleClusters) -> str:
    """Show the catalogue."""
    newest: list[Digest] = []
    for name in History(environment.store_root()).snapshots():
        newest += _digests(visible, name, 1)[0]
    return pages.catalogue_page(catalogue(), newest, up="./")


@app.get("/checks/{code}", response_class=HTMLResponse)
def show_check(code: str) -> str:
    """Show the documentation of a check."""
    known = catalogue().get(code.upper())
    if known is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"Check {clean(code)} does not exist in this version.")
    return pages.check_page(known, up="../")


@app.get("/run")
def show_run(request: Request, visible: VisibleClusters, dag: str, run: str, cluster: str = "") -> Response:
    """Lead from a DAG run to its report; with reports on several clusters, show them at a glance."""
    if dag not in links.DAGS:
        text = (
            f"This page shows runs of the DAGs {', '.join(links.DAGS)}. This run belongs to {clean(dag)}."
            " If one of its tasks is a KafkaAuditOperator, the report is behind the link of that task."
        )
        return HTMLResponse(pages.notice_page("This run is not a Kafka audit", text, up="./"))
    root = environment.store_root()
    judged = [snapshot_id for snapshot_id in History(root).of_run(links.run_prefix(run)) if cluster_of(snapshot_id) in visible]
    digests, problems = cache.digests(root, judged, len(judged), environment.min_coverage())
    chosen = [digest for digest in digests if cluster in {"", digest.cluster}]
    if not chosen:
        text = "The run has not created a report yet, or its snapshots were deleted. See the log of its tasks."
        return HTMLResponse(pages.notice_page("This run has no report", text, up="./"))
    if len(chosen) == 1:
        to = links.relative(chosen[0].snapshot_id, run, dag=dag, folder=migration_reports.folder(dag, chosen[0].snapshot_id))
        return RedirectResponse(to, status.HTTP_303_SEE_OTHER)
    labels = _labels(problems)
    glances = [
        pages.Glance(
            cluster=digest.cluster,
            link=links.relative(digest.snapshot_id, run, dag=dag),
            digests=[digest],
            labels=labels.get(digest.cluster, {}),
        )
        for digest in chosen
    ]
    broken = sum(bool(digest.state.group == INCIDENT) for digest in chosen)
    title = f"In this run {broken} of {len(chosen)} clusters had an incident"
    wanted, kept = ClusterFilter.of(request.query_params.multi_items()), {"dag": dag, "run": run}
    now = datetime.now(UTC)
    return HTMLResponse(pages.overview_page(glances, now=now, up="./", problems=problems, title=title, wanted=wanted, kept=kept))


@app.get("/{folder}/{snapshot_id}", response_class=HTMLResponse)
def show_change(visible: VisibleClusters, folder: str, snapshot_id: str, dag: str = "", run: str = "") -> str:
    """Show what was decided before a change, or found after it."""
    page = (
        migration_reports.migration_page(folder, snapshot_id, links.of_run(run, dag))
        if cluster_of(snapshot_id) in visible
        else None
    )
    if page is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"There is no such report of snapshot {clean(snapshot_id)}.")
    return page


def _report(request: Request, document: Report, *, newest: bool, notice: str) -> str:
    query = request.query_params
    around = cluster_page.Around(
        up="../",
        here=f"../clusters/{document.cluster}",
        newest=newest,
        age=pages.age(document.finished_at, datetime.now(UTC)),
        notice=notice,
        run=query.get("run", "")[: links.LONGEST_RUN],
        run_link=links.of_run(query.get("run", ""), query.get("dag", links.DAG)),
        min_coverage=environment.min_coverage(),
    )
    fold = {"0": False, "1": True}.get(query.get("fold", ""))
    return cluster_page.cluster_page(document, around, wanted=Wanted.of(query), mode=query.get("mode", "worst"), fold=fold)


def _document(visible: VisibleClusters, snapshot_id: str) -> Report:
    document = cache.document(environment.store_root(), snapshot_id) if cluster_of(snapshot_id) in visible else None
    if document is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"There is no report of snapshot {clean(snapshot_id)}.")
    return document


def _digests(visible: VisibleClusters, name: str, most: int, before: str = "") -> tuple[list[Digest], list[str]]:
    if name not in visible:
        return [], []
    root = environment.store_root()
    ids = [snapshot_id for snapshot_id in cache.snapshots(root).get(name, ()) if not before or snapshot_id < before]
    return cache.digests(root, ids, most, environment.min_coverage())


def _day_after(day: str) -> str:
    """Return what the ids of all snapshots until the end of a day are less than; nothing where it is no day."""
    try:
        return f"{date.fromisoformat(day) + timedelta(days=1):%Y%m%d}"
    except (ValueError, OverflowError):
        return ""


def _between(name: str, a: str, b: str) -> list[Digest]:
    """Return digests from the earlier of two judged snapshots of a cluster to the later; nothing unless both are some."""
    root = environment.store_root()
    first, last = sorted((a, b))
    ids = [snapshot_id for snapshot_id in cache.snapshots(root).get(name, ()) if first <= snapshot_id <= last]
    digests = cache.chain(root, ids[::-1], environment.min_coverage()) if {a, b} <= set(ids) else []
    ends = [digest.snapshot_id for digest in (digests[0], digests[-1])] if len(digests) > 1 else []
    return digests if ends == [first, last] else []


def _labels(problems: list[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the labels of the clusters in the cluster file; where it cannot be read here, add why."""
    try:
        return {name: cluster.labels for name, cluster in settings.load(environment.clusters_file()).items()}
    except UsageError as error:
        problems.append(f"Clusters without a report are not listed, and labels are unknown. {errors.sentence(error)}")
        return {}


def _up(request: Request) -> str:
    """Return the relative path from a path of this app to its root."""
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    return "../" * max(path.count("/") - 1, 0) or "./"
