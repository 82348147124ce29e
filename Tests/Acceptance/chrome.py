"""A headless Chromium without a cache, which tells what it asked, whom, and what it complained about."""

import json
import shutil

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

SWITCHES = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--lang=en-US", "--no-first-run", "--disable-background-networking", "--disable-component-update",
]


class Chrome(webdriver.Chrome):
    def __init__(self, *more):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for switch in [*SWITCHES, *more]:
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # Chromium's driver is named, since selenium would otherwise look for one on the network.
        super().__init__(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.events = []
        self.size(1280, 900)

    def get(self, url):
        try:
            super().get(url)
        except WebDriverException as error:
            if "ERR_NETWORK_CHANGED" not in str(error):
                raise
            super().get(url)

    def size(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme="light", motion="no-preference", forced="none", media=""):
        """What the system asks for; `media` is "print" for the look on paper."""
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion, "forced-colors": forced}
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": media, "features": [{"name": name, "value": value} for name, value in features.items()]})

    def connect(self, is_connected):
        self.execute_cdp_cmd("Network.enable", {})
        conditions = {"offline": not is_connected, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)

    def key(self, key, backwards=False):
        """Presses a key wherever the cursor is, perhaps with Shift."""
        actions = ActionChains(self)
        if backwards:
            actions.key_down(Keys.SHIFT)
        actions.send_keys(key)
        if backwards:
            actions.key_up(Keys.SHIFT)
        actions.perform()

    def one(self, selector):
        return self.find_element(By.CSS_SELECTOR, selector)

    def words(self, selector):
        """What an element says, as soon as it says something: pages fill in what they were asked for a moment later."""
        return self.until(lambda: self.one(selector).text, f"{selector} to say something")

    def all(self, selector):
        return self.find_elements(By.CSS_SELECTOR, selector)

    def until(self, condition, what, seconds=10):
        """Waits for a condition of this browser; elements that a page has just replaced do not count."""
        return WebDriverWait(self, seconds, poll_frequency=0.05, ignored_exceptions=(Exception,)).until(
            lambda _: condition(), f"waited for {what}")

    def network(self):
        """All network events since the start."""
        for entry in self.get_log("performance"):
            self.events.append(json.loads(entry["message"])["message"])
        return self.events

    def requests(self):
        return [event["params"]["request"] for event in self.network() if event["method"] == "Network.requestWillBeSent"]

    def received(self):
        """The bytes that came over the wire, heads and bodies."""
        return sum(event["params"]["encodedDataLength"] for event in self.network()
                   if event["method"] == "Network.loadingFinished")

    def complaints(self):
        return [entry for entry in self.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
