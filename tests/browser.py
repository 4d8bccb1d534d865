"""A headless browser for tests of HTML pages."""

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --window-size=1280,900"
)


def _report_missing(what):
    """Fail the test in continuous integration, skip it elsewhere."""
    reason = f"{what} is needed to test HTML pages (Debian: apt install chromium chromium-driver; pip install selenium)"
    if "CI" in os.environ:
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def chromium():
    """Start Chromium with a temporary profile, and quit it at the end."""
    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        _report_missing("Chromium with its driver")
    try:
        from selenium import webdriver
    except ImportError:
        _report_missing("selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in [*FLAGS.split(), f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            yield Browser(browser)
        finally:
            browser.quit()


class Browser:
    """The functions of a browser that the tests use."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, width=1280, dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}  # a click during scrolling could miss its target
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [scheme, motion]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(Path(path).as_uri())

    def run(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def press(self, *keys):
        from selenium.webdriver import ActionChains, Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def print(self):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})

    @property
    def messages(self):
        """The messages of the console: errors, blocked scripts, failed loads."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    @property
    def data(self):
        return json.loads(self.run("return document.getElementById('data').textContent"))


def contrast(one, other):
    """Return the contrast ratio of two colours as defined by WCAG, from 1 to 21."""

    def luminance(colour):
        channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
