"""The documentation site in a browser: it loads nothing from elsewhere, finds words, and no page is wider than a phone."""

import http.server
import subprocess
import threading
from functools import partial

import pytest

from airflow_environment import ROOT
from scenarios import browser

PAGES = ("index", "docs/peers", "docs/page", "docs/corpus", "docs/tables", "docs/checks/index", "docs/checks/KA302", "CHANGELOG")

pytestmark = pytest.mark.scenario


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and logs nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    """Build the site and return its address."""
    done = subprocess.run(["make", "site"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(ROOT / "build" / "site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_pages_fit_every_window_and_load_nothing_from_elsewhere(site, tmp_path):
    with browser.chromium() as chromium:
        context, asked = chromium.new_context(), []
        context.on("request", lambda request: asked.append(request.url))
        addresses = {name.replace("/", "-"): f"{site}/{name}.html" for name in PAGES}
        assert browser.pictures(context, addresses, browser.folder(tmp_path)) == []
    assert len(asked) > len(PAGES)
    assert [url for url in asked if not url.startswith((site, "data:"))] == []


def test_search_finds_a_check_by_its_words(site):
    with browser.chromium() as chromium:
        page = chromium.new_page()
        page.goto(f"{site}/index.html")
        page.fill("input[name=q]:visible", "KA302 inter_broker_endpoint_unreachable")
        page.press("input[name=q]:visible", "Enter")
        page.locator("ul.search li a[href*='KA302']").first.click()
        page.wait_for_url("**/docs/checks/KA302.html*")
        assert "KA302" in page.locator("h1").inner_text()
