"""A headless Chromium of this machine, and pictures of the same page in every width and both themes."""

import contextlib
import os
from pathlib import Path
from urllib.parse import quote

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
EXECUTABLE = os.environ.get("CHROMIUM", "/usr/bin/chromium")
WIDTHS = (1440, 768, 390)
THEMES = ("light", "dark")


@contextlib.contextmanager
def chromium():
    """Give a browser that talks to nobody but the page it is shown."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- only where a browser is

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def log_in(page, url, user):
    """Log in as people do: Airflow leads to its form, and from there to where one wanted to go."""
    page.goto(f"{url}/")
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", user)
    page.click("button[type=submit]")
    page.wait_for_url(lambda address: "/auth/" not in address)


def someone(browser, url, user):
    """Return a page of a user who is logged in."""
    page = browser.new_context(viewport={"width": WIDTHS[0], "height": 900}).new_page()
    log_in(page, url, user)
    return page


def folder(tmp_path):
    """Return where pictures go."""
    return Path(os.environ.get("KAFKA_AUDIT_SCREENSHOTS") or tmp_path / "screenshots")


def _send_form(page, url, dag, pictured, fields):
    page.goto(f"{url}/dags/{dag}")
    page.get_by_test_id("trigger-dag-button").click()
    for name, value in fields.items():
        field = page.locator(f"#element_{name}")
        if field.evaluate("one => one.matches('input')"):
            field.fill(value)
        else:
            field.click()
            page.get_by_role("option", name=value, exact=True).click()
    if pictured:
        states(page, f"form-{dag}", pictured)
    with page.expect_response(lambda answer: answer.request.method == "POST" and answer.url.endswith("/dagRuns")) as answered:
        page.get_by_test_id("trigger-dag-submit").click()
    return answered.value


def trigger(page, url, dag, pictured=None, **fields):
    """Start a run by the form of its DAG, which is pictured in a folder; return the run's id."""
    return _send_form(page, url, dag, pictured, fields).json()["dag_run_id"]


def may_trigger(page, url, dag, **fields):
    """Return the status with which Airflow takes or refuses the form of a DAG."""
    return _send_form(page, url, dag, None, fields).status


def answer(page, url, run, option, pictured=None):
    """Answer a run's question from the list of required actions, picture it in a folder; return the status of the answer."""
    page.goto(f"{url}/required_actions")
    page.locator(f"a[href*='/{run}/'][href$='/required_actions']").first.click()
    button = page.get_by_test_id(f"hitl-option-{option}")
    button.wait_for()
    if pictured:
        states(page, "question", pictured)
    with page.expect_response(lambda answer: answer.request.method == "PATCH" and "hitlDetails" in answer.url) as answered:
        button.click()
    return answered.value.status


def run_tab(page, url, dag, run):
    """Open the tab beside a run and return the frame with the page in it."""
    return in_airflow(page, f"{url}/dags/{dag}/runs/{quote(run, safe='')}/plugin/findings")


def in_airflow(page, url):
    """Open an address of the UI and return the frame with the page in it, once it is there."""
    page.goto(url)
    frame = page.frame_locator("iframe")
    frame.locator("h1").wait_for()
    return frame


def pictures(context, addresses, folder: Path):
    """Take every address in every width and theme; return those that are wider than the window."""
    folder.mkdir(parents=True, exist_ok=True)
    page, wide = context.new_page(), []
    for name, address in addresses.items():
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(address)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(f"{name} {width}")
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True, scale="css")
    page.close()
    return wide


def states(page, name, folder: Path):
    """Take what Airflow shows now, in every width and in both of its themes."""
    folder.mkdir(parents=True, exist_ok=True)
    was = page.evaluate("document.documentElement.className")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in THEMES:
            page.evaluate(f"document.documentElement.className = '{theme}'")
            page.screenshot(path=folder / f"{name}-{width}-{theme}.png", scale="css")
    page.evaluate(f"document.documentElement.className = '{was}'")
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
