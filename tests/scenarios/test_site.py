"""The documentation site in a browser: it loads nothing from elsewhere, finds words, and no page is wider than a phone."""

import http.server
import re
import subprocess
import threading
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from airflow_environment import ROOT
from kafka_audit.checks import catalogue
from kafka_audit.report.symptoms import symptom_pages
from kafka_audit.report.symptoms.search import search
from scenarios import browser

THREADS = yaml.safe_load((ROOT / "tests" / "report" / "threads.yaml").read_text(encoding="utf-8"))
PAGES = (
    "index",
    "docs/peers",
    "docs/page",
    "docs/corpus",
    "docs/tables",
    "docs/symptoms/localhost",
    "docs/checks/index",
    "docs/checks/KA302",
    "CHANGELOG",
)

pytestmark = pytest.mark.scenario


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and logs nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    """Build the site and return its address."""
    completed = subprocess.run(["make", "site"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
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


def test_search_finds_the_words_of_threads_as_explain_does(site):
    """Nineteen of twenty lead to their page in one step; text from outside becomes no element of the page."""
    hits = 0
    with browser.chromium() as chromium:
        page = chromium.new_page()
        for thread in (thread for threads in THREADS.values() for thread in threads):
            page.goto(f"{site}/search.html?q={quote(thread['words'])}")
            links = page.locator("#message-pages a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
            found = search(thread["words"]).pages[:4]
            assert links == [f"docs/{'checks' if slug in catalogue() else 'symptoms'}/{slug}.html" for slug in found]
            hits += thread in THREADS["chosen"] and found[0] == thread["page"]
        page.goto(f"{site}/search.html?q={quote('<img src=x onerror=alert()> Leader: none')}")
        assert page.locator("#message-pages a").first.inner_text() == symptom_pages()["leader-none"].title
        assert page.locator("#message-pages img, #search-results img").count() == 0
        page.goto(f"{site}/search.html?q=bread")
        assert page.locator("#message-pages").count() == 0
    assert hits >= 19


def test_each_page_has_its_markdown_beside_it_and_the_list_names_it(site):
    built = Path(ROOT / "build" / "site")
    listed = set(re.findall(r"\]\((.*?\.md)\)", (built / "llms.txt").read_text(encoding="utf-8")))
    assert listed == {str(page.relative_to(built).with_suffix(".md")) for page in built.rglob("*.html")} - {
        "index.md", "search.md", "genindex.md",
    }  # fmt: skip
    assert site
    for name in listed:
        twin = built / name
        text = twin.read_text(encoding="utf-8")
        assert f'href="{twin.name}"' in twin.with_suffix(".html").read_text(encoding="utf-8")
        for target in re.findall(r"!\[[^]]*\]\(([^)#:]+)\)", text):
            assert (twin.parent / target).exists(), (name, target)
