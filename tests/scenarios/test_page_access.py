"""Pages for users of a screen reader: what axe-core finds wrong."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from scenarios import browser, page_kinds

pytestmark = pytest.mark.scenario

SCREENS = {
    "desk": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
RULES = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return page_kinds.write_pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as running:
        yield running


@pytest.fixture
def shown(chromium, files):
    opened = []

    def show(name, screen="desk"):
        opened.append(chromium.new_page(**SCREENS[screen]))
        opened[-1].goto(files[name].as_uri())
        return opened[-1]

    yield show
    for page in opened:
        page.close()


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
