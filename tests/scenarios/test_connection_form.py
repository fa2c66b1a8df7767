"""The form of the connection type «Kafka audit» in a real Airflow, and its button Test against real brokers.

Pictures stay in KAFKA_AUDIT_SCREENSHOTS, where that names a folder.
"""

import pytest

from scenarios import browser
from scenarios.scheduled import Scheduled
from testbed import presets
from testbed.acls import auditor_grants
from testbed.airflow_home import AirflowHome
from testbed.security import AUDITOR
from testbed.servers import BROKER_PORT

pytestmark = [pytest.mark.bed, pytest.mark.airflow, pytest.mark.scenario]

PASSED, FAILED = "Test Connection Successful", "Test Connection Failed"


@pytest.fixture(scope="module")
def cluster(bed):
    """Three brokers with SCRAM, an authorizer, and an auditor with the rights that the README names."""
    cluster = bed.cluster("3.9.1", **presets.scram())
    cluster.put_acls(auditor_grants())
    cluster.create_topic("orders", {0: [0, 1, 2]})
    cluster.await_settled()
    return cluster


def airflow(bed, folder, **variables):
    (folder / "clusters.yaml").write_text("clusters: {}\n")
    home = AirflowHome(
        bed.worker, folder / "airflow", clusters=folder / "clusters.yaml", store=folder / "store", variables=variables
    )
    home.ready(home.migrate())
    return Scheduled(home, host=bed.worker)


def fill_in(page, url, name, password, cluster):
    """Fill in the form as a person does."""
    page.goto(f"{url}/connections")
    page.get_by_role("button", name="Add Connection").click()
    page.locator("input[name=connection_id]").fill(name)
    page.locator("input[role=combobox]").fill("kafka audit")
    page.get_by_role("option", name="Kafka audit").click()
    page.locator("input[name=host]").fill(",".join(broker.host.address for broker in cluster.brokers.values()))
    page.locator("input[name=port]").fill(str(BROKER_PORT))
    page.locator("input[name=login]").fill(AUDITOR)
    page.locator("input[name=password]").fill(password)


def secure(page):
    """Open the second part of the form, and say how to log in."""
    page.get_by_role("button", name="Extra Fields", exact=True).click()
    choose(page, "security_protocol", "SASL_PLAINTEXT")
    choose(page, "sasl_mechanism", "SCRAM-SHA-512")


def choose(page, field, value):
    page.locator(f"#element_{field}").click()
    page.get_by_role("option", name=value, exact=True).click()


def save(page):
    with page.expect_response(lambda answer: answer.request.method == "POST" and answer.url.endswith("/connections")) as answered:
        page.get_by_role("button", name="Save").click()
    assert answered.value.status == 201


def press_test(page, url, name, picture):
    """Press Test in the row of a connection; return title and text of what Airflow shows."""
    page.set_viewport_size({"width": 1100, "height": 480})
    page.goto(f"{url}/connections")
    row = page.get_by_role("row").filter(has_text=name)
    row.get_by_role("button", name="Test Connection").click()
    title = page.get_by_text(PASSED).or_(page.get_by_text(FAILED))
    title.wait_for(timeout=60_000)
    shown = title.inner_text(), page.locator("[data-scope=toast][data-part=description]").inner_text()
    page.wait_for_timeout(500)  # it slides in
    page.screenshot(path=picture, scale="css")
    page.set_viewport_size({"width": 1100, "height": 900})
    return shown


def test_a_person_describes_a_cluster_and_tests_it(bed, cluster, tmp_path):
    folder = browser.folder(tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    password = cluster.secured.security.users[AUDITOR]
    addresses = [broker.address for broker in cluster.brokers.values()]
    server = airflow(bed, tmp_path, AIRFLOW__CORE__TEST_CONNECTION="Enabled")
    with server, browser.chromium() as chromium:
        page = browser.someone(chromium, server.url, "admin")
        page.set_viewport_size({"width": 1100, "height": 900})
        fill_in(page, server.url, "kafka_prod", password, cluster)
        assert page.get_by_text("Bootstrap servers", exact=True).is_visible()
        page.screenshot(path=folder / "connection-form.png", scale="css")
        secure(page)
        page.screenshot(path=folder / "connection-form-security.png", scale="css")
        save(page)

        title, text = press_test(page, server.url, "kafka_prod", folder / "connection-passed.png")
        assert title == PASSED, text
        assert text.startswith("3 of 3 brokers answered: ")
        assert all(address in text for address in addresses)
        assert text.endswith(". No right is missing")

        bed.cut(bed.worker, cluster.brokers[2].host)
        title, text = press_test(page, server.url, "kafka_prod", folder / "connection-half-reachable.png")
        bed.heal(bed.worker, cluster.brokers[2].host)
        assert title == FAILED
        assert text.startswith("2 of 3 brokers answered: ")
        assert f"No answer: broker 2 at {addresses[2]} (" in text

        fill_in(page, server.url, "kafka_typo", "not-the-password", cluster)
        secure(page)
        save(page)
        title, text = press_test(page, server.url, "kafka_typo", folder / "connection-wrong-password.png")
        assert title == FAILED
        assert text.startswith("0 of 3 brokers answered. ")
        assert text.count("SASL_AUTHENTICATION_FAILED") == 1
        assert text.endswith(f" accepts ({AUDITOR}))"), "names of files and connections that nobody chose"
        assert "not-the-password" not in text
    log = (tmp_path / "airflow" / "standalone.log").read_text(errors="replace")
    assert password not in log
    assert "not-the-password" not in log


def test_without_the_setting_the_button_says_that_tests_are_disabled(bed, tmp_path):
    server = airflow(bed, tmp_path)
    with server, browser.chromium() as chromium:
        server.call("POST", "/api/v2/connections", {"connection_id": "kafka_prod", "conn_type": "kafka_audit"})
        page = browser.someone(chromium, server.url, "admin")
        page.goto(f"{server.url}/connections")
        button = (
            page.get_by_role("row")
            .filter(has_text="kafka_prod")
            .get_by_role("button", name="Test connection feature is disabled")
        )
        assert button.is_disabled()
