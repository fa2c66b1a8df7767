"""A headless Chromium of this machine, and pictures of the same page in every width and both themes."""

import contextlib
import os
from pathlib import Path

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


def pictures(context, addresses, folder: Path):
    """Take every address in every width and theme; return those that are wider than the window."""
    folder.mkdir(parents=True, exist_ok=True)
    page, wide = context.new_page(), []
    for name, address in addresses.items():
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    wide.append(f"{name} {width}")
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True, scale="css")
    page.close()
    return wide
