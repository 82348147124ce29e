"""A headless Chromium without a cache, which tells what it asked, whom, and what it complained about."""

import contextlib
import json
import os
import pathlib
import shutil
import signal

from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException

from browser import PATIENCE, Browser

# Chromium without its own windows, for a third of the processor's time. Not the script of this name, which would stay behind as its parent.
SHELL = "/usr/lib/chromium/chromium-headless-shell"
# With them, which keeps what is in a profile.
WHOLE = "/usr/lib/chromium/chromium"

SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--lang=en-US", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    # A mouse: without windows, Chromium finds no device that can point.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
]


class Driver(webdriver.ChromeService):
    """Chromium's driver, which is named, since selenium would otherwise look for one on the network."""

    def __init__(self):
        super().__init__(shutil.which("chromedriver"))

    def send_remote_shutdown_command(self):
        """Nothing: its session is over, so it can be terminated; selenium would ask it to end, and look a second later."""


def descendants(process):
    """The processes below a process, by /proc."""
    parents = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    found = [process]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


class Chrome(Browser, webdriver.Chrome):
    def __init__(self, *more, profile=None):
        """With a profile, the folder of one that is kept after the end."""
        options = webdriver.ChromeOptions()
        options.binary_location = WHOLE if profile else SHELL
        if profile:
            more = [*more, "--headless=new", f"--user-data-dir={profile}"]
        for switch in [*SWITCHES, *more]:
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        super().__init__(options=options, service=Driver())
        self.events = []
        self.set_script_timeout(PATIENCE)
        self.size(1280, 900)

    def kill(self):
        """Ends the browser and what it has started, as a crash does: nothing is written any more."""
        for process in descendants(self.service.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def get(self, url):
        try:
            super().get(url)
        except WebDriverException as error:
            if "ERR_NETWORK_CHANGED" not in str(error):
                raise
            super().get(url)

    def reload(self):
        """The same; again if nothing comes, since Chromium 156 loses what is asked while a newer worker takes over."""
        self.set_page_load_timeout(20)
        try:
            super().reload()
        except TimeoutException:
            super().reload()
        self.set_page_load_timeout(PATIENCE)

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

    def before_each_page(self, script):
        """Runs a script in each page from the next one on, before the page's own."""
        self.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def block(self, *addresses):
        """From now on, nothing is at these addresses, which may have `*` in them."""
        self.execute_cdp_cmd("Network.enable", {})
        self.execute_cdp_cmd("Network.setBlockedURLs", {"urls": addresses})

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

    def busy(self):
        """The seconds that the page's thread has taken of the processor."""
        self.execute_cdp_cmd("Performance.enable", {})
        metrics = self.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime")

    def complaints(self):
        return [entry for entry in self.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
