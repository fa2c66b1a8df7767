"""Pages for users of a keyboard or a screen reader: what axe-core finds wrong, and where Tab, arrows, Enter and Escape lead."""

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.scenario

SCREENS = {
    "desk": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
RULES = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
NUMBER_STOPS = """() => {
  const every = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")];
  const stops = every.filter(one => one.checkVisibility() && (one.type !== "radio" || one.checked));
  stops.forEach((one, number) => { one.dataset.stop = number; });
  return stops.length;
}"""
FOCUSED = """() => {
  const style = getComputedStyle(document.activeElement);
  return [document.activeElement.dataset.stop ?? "", style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
}"""


@pytest.fixture
def shown(page_in_chromium):
    return lambda name, screen="desk": page_in_chromium(name, **SCREENS[screen])


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_no_fault_on_any_page(files, shown, screen):
    found = {}
    for name in files:
        page = shown(name, screen)
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        results = Axe().run(page, options=RULES)
        if results.violations_count:
            found[name] = results.generate_report()
        page.close()
    assert not found, "\n".join(f"{name}: {report}" for name, report in found.items())


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", ["candidates", "healthy", "file", "timeline", "overview", "decision"])
def test_tab_stops_at_everything_that_can_be_used_in_the_order_of_the_page_and_shows_where_it_is(shown, name, screen):
    page = shown(name, screen)
    number, reached = page.evaluate(NUMBER_STOPS), []
    assert number > 3
    while len(reached) <= number:
        page.keyboard.press("Tab")
        stop, is_outlined = page.evaluate(FOCUSED)
        if not stop:
            break  # beyond the last one
        assert is_outlined, page.evaluate("document.activeElement.outerHTML")
        if stop not in reached[-1:]:  # a date has several stops of its own
            reached.append(stop)
    assert reached == [str(stop) for stop in range(number)]


def test_the_first_stop_leads_to_the_content(shown):
    page = shown("incident")
    skip = page.locator("a.skip")
    assert skip.bounding_box()["y"] < 0, "it is not seen before it is needed"
    page.keyboard.press("Tab")
    assert skip.bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Clusters"


def test_enter_opens_and_closes_the_findings_of_an_incident(shown):
    group = shown("incident").locator("details.group")
    assert [group.get_attribute("open"), group.locator("table").is_visible()] == [None, False]
    group.locator("> summary").press("Enter")
    assert group.locator("table").is_visible()
    group.locator("> summary").press("Enter")
    assert not group.locator("table").is_visible()


def test_a_search_in_a_file_opens_the_incident_of_what_it_finds_and_escape_ends_it(shown):
    page = shown("file")
    search, group, rows = page.get_by_label("Filter the findings of this file"), page.locator("details.group"), "#list tbody tr"
    before = page.locator(f"{rows}:visible").count()
    search.press_sequentially("ka506")
    assert page.locator(f"{rows}:visible").all_inner_texts()[0].startswith("HIGH")
    assert (page.locator(f"{rows}:visible").count(), group.get_attribute("open")) == (1, "")
    search.press("Escape")
    assert (page.locator(f"{rows}:visible").count(), group.get_attribute("open")) == (before, None)


@pytest.mark.parametrize(("name", "last"), [("incident", "worker → broker 2: "), ("unfolded", "worker → broker 59: ")])
def test_a_screen_reader_hears_of_a_cell_what_is_seen_below_the_matrix_and_arrows_stay_in_it(shown, name, last):
    page = shown(name)
    page.locator("table.mx td[tabindex='0']").focus()
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "End", "PageDown", "Control+End", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
        label = page.evaluate("document.activeElement.ariaLabel")
        assert label == page.locator("#cell").inner_text()
        assert " → broker " in label
    assert label.startswith(last)
    assert page.locator("table.mx td[tabindex='0']").count() == 1
