"""What a browser makes of pages of every size, at a desk and on a phone; the pages are those of the server, as files."""

from dataclasses import replace

import pytest

from kafka_audit.audit import write_reports
from kafka_audit.job import embedded_job
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.report.formats import FILES
from kafka_audit.store import Store
from report.whole_pages import last_report
from scenarios import browser
from testbed.corpus.recorded import CLUSTERS, SUFFIX, unpacked

pytestmark = pytest.mark.scenario

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@pytest.fixture
def shown(page_in_chromium):
    return lambda name, window: page_in_chromium(name, viewport=window)


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_no_page_is_wider_than_the_window(files, shown, window):
    for name in files:
        page = shown(name, window)
        assert page.locator("h1").bounding_box()["y"] < 200, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        page.close()


def test_a_phone_shows_what_is_wrong_what_to_do_why_and_the_matrix_on_two_screens(shown):
    page = shown("large", PHONE)
    boxes = [page.locator(part).bounding_box() for part in ("#headline", "#do-1", "#why-1", "table.mx")]
    tops = [box["y"] for box in boxes]
    assert tops == sorted(tops)
    assert tops[-1] + boxes[-1]["height"] <= 2 * PHONE["height"]
    for later in ("#findings", "#coverage"):
        assert page.locator(later).bounding_box()["y"] > tops[-1]
    assert tops[0] < page.locator("#others").bounding_box()["y"] < tops[1], "right below the card, and closed"
    assert page.locator("details.incident").first.is_hidden()
    assert page.locator("details.filters form").is_hidden()
    page.locator("details.filters summary").click()
    assert page.locator("details.filters form").is_visible()


def test_a_small_matrix_uses_the_width(shown):
    page = shown("small", DESK)
    matrix, main = (page.locator(part).bounding_box()["width"] for part in ("table.mx", "main"))
    assert matrix > 0.9 * main
    assert page.locator("details.filters summary").is_hidden(), "there is room for the form"


def test_the_text_below_the_matrix_names_row_and_column_of_the_cell_and_keys_reach_the_last_one(shown):
    page = shown("small", DESK)
    row = page.locator("table.mx tbody tr", has_text="broker 1")
    row.locator("td").first.click()
    assert page.locator("#cell").inner_text().startswith("broker 1 → broker 0: ")
    row.locator("td").first.press("End")
    assert page.locator("#cell").inner_text().startswith("broker 1 → broker 2: ")


def test_equal_findings_of_several_brokers_are_one_row_that_opens(shown):
    page = shown("small", DESK)
    row = page.locator("#list tbody tr")
    assert row.count() == 1
    assert "Brokers 0-2" in row.inner_text()
    assert row.locator("li").first.is_hidden()
    row.locator("summary", has_text="3 findings").click()
    assert row.locator("li .id").all_inner_texts() == ["broker/0", "broker/1", "broker/2"]


def test_a_hundred_brokers_and_five_thousand_findings_stay_readable(shown):
    page = shown("large", DESK)
    assert page.locator("table.mx tbody tr").count() <= 5, "equal rows and columns are folded"
    assert page.locator("#list tbody tr").count() == 3
    assert "5000 findings" in page.locator("#findings ~ p[role=status]").inner_text()
    evidence = page.locator("#why-1 ~ ul.entries, #why-1 ~ details.more").all_inner_texts()
    assert sum(text.count("tcp fails") for text in evidence) == 1
    assert "probes from the hosts of brokers 20-39" in " ".join(evidence)
    undecided = page.locator("#next-failure ~ details")
    assert undecided.locator("tbody tr").count() == 1, "losses with the same numbers share a row"
    assert undecided.locator("table").is_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") < 5 * DESK["height"]


def test_a_page_without_an_incident_has_two_halves_before_the_matrix(shown):
    for window, is_wide in ((DESK, True), (PHONE, False)):
        page = shown("healthy", window)
        agrees, open_questions, matrix = (page.locator(part).bounding_box() for part in ("#agreed", "#unanswered", "#matrix"))
        assert (agrees["y"] == open_questions["y"]) is is_wide
        assert agrees["y"] <= open_questions["y"] < matrix["y"]
        assert agrees["width"] == open_questions["width"], "the halves are equal"
        assert agrees["y"] < window["height"]
        assert page.locator("#unanswered + ul > li").last.inner_text().startswith("Anything after 27 Nov 2026 00:16 UTC")
        names = page.locator("#agreed + ul details")
        assert names.locator("li").first.is_hidden()
        names.locator("summary").click()
        assert names.locator("li", has_text="storage: ").is_visible()


def test_the_report_that_the_readme_shows_says_what_is_broken_on_its_first_screen(chromium, tmp_path):
    """The cluster is a recorded one, broken as by the demo."""
    recorded, _ = unpacked((CLUSTERS / f"zookeeper_address_out_of_reach{SUFFIX}").read_bytes())
    store = Store(tmp_path / "store")
    store.prepare()
    store.write(replace(recorded, cluster="demo"))
    pair = SnapshotPair(snapshot_id=recorded.snapshot_id, previous_snapshot_id=None)
    store.write_request(Request(run_id="picture", pairs=(pair,)))
    embedded_job.answer(store, "picture")
    (report,) = write_reports(store, "picture", {})
    file = tmp_path / "report.html"
    file.write_text(FILES["html"](report), encoding="utf-8")
    folder = browser.folder(tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = chromium.new_context(viewport={"width": 1100, "height": 720}).new_page()
    page.goto(file.as_uri())
    headline = page.locator("h1")
    assert headline.inner_text() == "Broker 2 is cut off: controller 0 cannot reach the address it advertises"
    assert headline.bounding_box()["y"] < 200
    assert page.get_by_text("nc -vz -w 3 10.98.0.12 9092").first.bounding_box()["y"] < 720
    page.screenshot(path=folder / "report-1100-light.png", scale="css")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_five_incidents_are_on_the_first_screen(chromium, tmp_path, width, height, theme):
    """On a phone the others are counted, and their titles follow."""
    file = tmp_path / "report.html"
    file.write_text(FILES["html"](last_report("five_incidents")), encoding="utf-8")
    page = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme).new_page()
    page.goto(file.as_uri())
    folder = browser.folder(tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"five-incidents-{width}-{theme}.png", scale="css")
    seen = ["Broker 3 is cut off", "4 more incidents"]
    if width == 1440:
        others = ("Broker 5 lost log dir", "Broker 9 is not at its address", "cannot reach broker 7", "Broker 11 is gone")
        seen += [*others, "nc -vz -w 3 10.0.0.13 9092"]
    for text in seen:
        assert 0 < page.get_by_text(text).first.bounding_box()["y"] < height - 20, text


@pytest.mark.parametrize(
    ("picture", "name", "part"),
    [
        ("incident-1440-light", "incident", "#headline"),
        ("incident-390-dark", "incident", "#do-1"),
        ("matrix-1440-dark", "incident", "#matrix"),
        ("no-incident-1440-light", "healthy", "#agreed"),
        ("timeline-1440-light", "timeline", "table.tl"),
    ],
)
def test_a_picture_of_the_documentation_shows_its_part(page_in_chromium, tmp_path, picture, name, part):
    _, width, theme = picture.rsplit("-", 2)
    page = page_in_chromium(name, viewport={"width": int(width), "height": 900}, color_scheme=theme)
    if part == "#matrix":
        page.locator(part).evaluate("one => scrollTo(0, one.offsetTop - 40)")
    box = page.locator(part).bounding_box()
    assert 0 <= box["y"] < 700
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (theme == "dark")
    folder = browser.folder(tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{picture}.png", scale="css")
