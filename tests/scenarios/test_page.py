"""The page in a real Airflow, with audits of a cluster that was broken, and was repaired, seen with a browser.

Airflow runs on the worker host of the bed, so the run that a user triggers by the form audits real brokers. Pictures of every
state stay in KAFKA_AUDIT_SCREENSHOTS, where that names a folder.
"""

from types import SimpleNamespace
from urllib.parse import quote

import pytest

from scenarios import browser
from scenarios.scheduled import Scheduled
from testbed.airflow_home import DAG, AirflowHome

pytestmark = [pytest.mark.bed, pytest.mark.airflow, pytest.mark.spark, pytest.mark.scenario]

BASE = "/tools/airflow"
CLUSTER = "near"
HEADLINE = "Broker 2 is cut off: controller 0 cannot reach the address it advertises"


@pytest.fixture(scope="module", params=["2.8.2"])
def version(request):
    return request.param


@pytest.fixture
def airflow(bed, audits, tmp_path):  # noqa: ARG001 -- the audits write the cluster file
    """A whole Airflow on the worker host, over the store of the audits."""
    of = tmp_path / CLUSTER
    home = AirflowHome(bed.worker, tmp_path / "airflow", clusters=of / "clusters.yaml", store=of / "store")
    home.ready(home.migrate())
    with Scheduled(home, base_path=BASE, host=bed.worker) as server:
        server.unpause(DAG)
        yield server


def refused(chromium, url, **headers):
    """Return the status with which a stranger is refused."""
    stranger = chromium.new_context(extra_http_headers=headers)
    return stranger.request.get(url, max_redirects=0).status


def test_an_operator_finds_the_cause_in_the_ui(airflow, audits, cluster, tmp_path):
    url, folder = airflow.url, browser.folder(tmp_path)
    cluster.advertise_through_forward([2])
    with browser.chromium() as chromium:
        assert refused(chromium, f"{url}/kafka-audit/") == 401
        assert refused(chromium, f"{url}/kafka-audit/", Cookie="_token=forged.forged.forged") in {401, 403}
        admin, page = (browser.someone(chromium, url, name) for name in ("admin", "viewer"))
        assert browser.may_trigger(page, url, DAG, cluster=CLUSTER) == 403
        run = browser.trigger(admin, url, DAG, folder, cluster=CLUSTER)
        assert airflow.ended(DAG, run, 600) == "failed"
        assert airflow.states(DAG, run)["gate"] == "failed"

        cluster.advertise_directly([2])
        repaired = audits.by_command(CLUSTER)
        assert repaired.code == 0, repaired.said
        story = SimpleNamespace(run=run, broken=repaired.report["previous_snapshot_id"], repaired=repaired.report["snapshot_id"])
        assert refused(chromium, f"{url}/kafka-audit/snapshots/{story.broken}/findings.json") == 401
        see_that_it_failed(admin, url, run, folder)
        complaints = []
        page.on("console", lambda message: complaints.append(message.text) if "Content Security" in message.text else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))

        see_the_overview(browser.in_airflow(page, f"{url}/plugin/kafka-audit"))
        see_the_run(browser.run_tab(page, url, DAG, run))
        browser.states(page, "tab", folder)
        see_what_changed(page, url, story)
        follow_the_button_at_the_gate(page, url, story)
        see_the_matrix_on_a_phone(page, url, story)
        see_that_it_is_dark_where_airflow_is(page, url)
        assert complaints == []

        pages = f"{url}/kafka-audit"
        addresses = {
            "overview": f"{pages}/",
            "broken": f"{pages}/snapshots/{story.broken}",
            "repaired": f"{pages}/clusters/{CLUSTER}",
            "timeline": f"{pages}/clusters/{CLUSTER}/timeline",
            "checks": f"{pages}/checks",
            "check": f"{pages}/checks/KA302",
        }
        assert browser.pictures(page.context, addresses, folder) == []


def see_that_it_failed(page, url, run, folder):
    """Airflow's own page of the run says so, and has the tab."""
    page.goto(f"{url}/dags/{DAG}/runs/{quote(run, safe='')}")
    page.get_by_test_id("state-badge").filter(has_text="Failed").first.wait_for()
    browser.states(page, "failed-run", folder)
    page.get_by_role("link", name="Kafka audit", exact=True).click()
    page.frame_locator("iframe").locator("#headline").wait_for()


def see_the_overview(frame):
    """The repaired cluster has no incident; its row leads to its page."""
    assert "No incident in 1 cluster" in frame.locator("h1").inner_text()
    frame.get_by_role("link", name=CLUSTER, exact=True).click()
    frame.locator("#headline").wait_for()
    assert "− resolved" in frame.locator("#earlier + ul").inner_text()  # noqa: RUF001 -- the sign of the page


def see_the_run(frame):
    """The tab beside the run: headline, matrix, filter."""
    assert frame.locator("#headline").inner_text() == HEADLINE
    cell = frame.locator("table.mx tbody tr", has_text="broker 0").first.locator("td").nth(2)
    assert cell.inner_text().split()[:2] == ["T", "tcp:"]
    cell.click()
    assert "broker 0" in frame.locator("#cell").inner_text()
    cell.press("ArrowDown")
    assert "broker 1" in frame.locator("#cell").inner_text()
    before = frame.locator("#list tbody tr").count()
    frame.locator("select[name=code]").select_option("KA302")
    frame.locator("#list tbody tr").nth(before - 1).wait_for(state="detached")
    assert set(frame.locator("#list tbody th").all_inner_texts()) == {"KA302"}
    assert frame.locator("#headline").inner_text() == HEADLINE


def see_what_changed(page, url, story):
    """The timeline: broken, repaired; and what is between."""
    page.goto(f"{url}/kafka-audit/clusters/{CLUSTER}/timeline")
    assert page.locator("table.tl input[name=a]").count() == 2
    assert page.locator(f"table.tl input[name=b][value='{story.repaired}']").is_checked()
    page.locator(f"table.tl input[name=a][value='{story.broken}']").check()
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="− resolved").wait_for()  # noqa: RUF001 -- the sign of the page
    text = page.locator("main").inner_text()
    assert "Changes between" in text
    assert "KA302" in text


def follow_the_button_at_the_gate(page, url, story):
    """The extra link that Airflow kept when the gate failed leads to the report of that run."""
    page.goto(f"{url}/dags/{DAG}/runs/{quote(story.run, safe='')}/tasks/gate/mapped/0/details")
    page.goto(page.get_by_role("link", name="Kafka audit report").get_attribute("href"))
    assert page.locator("#headline").inner_text() == HEADLINE
    assert story.broken in page.url


def see_the_matrix_on_a_phone(page, url, story):
    """Headline, remedy, evidence and matrix are on the first two screens of a phone, in this order."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{url}/kafka-audit/snapshots/{story.broken}")
    order = [page.locator(part).bounding_box() for part in ("#headline", "#do-1", "#why-1", "table.mx")]
    tops = [box["y"] for box in order]
    assert tops == sorted(tops)
    assert tops[-1] + order[-1]["height"] <= 2 * 844
    page.set_viewport_size({"width": browser.WIDTHS[0], "height": 900})


def see_that_it_is_dark_where_airflow_is(page, url):
    """The frame takes Airflow's theme, whatever the system wishes."""
    frame = browser.in_airflow(page, f"{url}/plugin/kafka-audit")
    for theme in ("dark", "light"):
        page.evaluate(f"document.documentElement.className = '{theme}'")
        frame.locator(f"html.{theme}").wait_for(state="attached")
