"""Makes the pictures of the README: the to-do page and the mock's page for developers, on a desktop and on a phone.

usage: make pictures
"""

import datetime
import pathlib
import subprocess
import sys

import servers
from chrome import Chrome
from person import Person

LARGEST = 150_000  # bytes of a picture


class Photographer:
    def __init__(self, folder):
        self.folder = folder
        self.servers = servers.shared()
        self.chrome = Chrome()
        self.person = Person(self.chrome, self.servers.page)

    def take(self, name, width, height, scheme):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if width < 500 else 1, "mobile": False}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.chrome.prefer(scheme, motion="reduce")
        self.chrome.execute_script("scrollTo(0, 0); document.activeElement.blur()")
        self.chrome.execute_script("document.getAnimations().forEach((animation) => animation.finish())")
        small = subprocess.run(
            ["pngquant", "--quality=60-95", "--speed=1", "--strip", "-"], input=self.chrome.get_screenshot_as_png(),
            stdout=subprocess.PIPE, check=True).stdout
        if len(small) > LARGEST:
            raise SystemExit(f"{name}.png would have {len(small)} bytes")
        (self.folder / f"{name}.png").write_bytes(small)

    def day(self, days):
        return (datetime.date.today() + datetime.timedelta(days)).isoformat()

    def fill(self, user):
        """Tasks as people have them."""
        for task in [
            {"task": "Book the train to Lisbon", "due": self.day(0), "notes": "The night train, if there is one."},
            {"task": "Water the tomatoes on the balcony", "completed": True},
            {"task": "Call grandmother about Sunday", "due": self.day(2)},
            {"task": "Return the library books", "due": self.day(-1)},
            {"task": "Ask Jonas whether the drawings for the garden shed are ready"},
            {"task": "Choose a present for Mira", "due": self.day(3)},
            {"task": "Pay the rent", "due": self.day(4)},
            {"task": "Repair the bicycle", "due": self.day(5)},
            {"task": "Plant the tulips", "due": self.day(9)},
            {"task": "Send the minutes to the choir", "due": self.day(1)},
            {"task": "Make an appointment with the dentist", "due": self.day(12)},
            {"task": "Buy stamps", "completed": True},
        ]:
            self.servers.request("POST", "/api/tasks", task, user=user)

    def work(self):
        self.fill("alice@example.com")
        self.person.sign_in()
        self.take("list", 1280, 800, "light")
        self.take("phone-dark", 390, 780, "dark")
        self.chrome.get(f"{self.servers.authority}/_mock")
        self.chrome.until(lambda: self.chrome.all("main:not([aria-busy])"), "the page to be whole")
        self.take("mock", 1280, 900, "light")
        self.take("mock-phone", 390, 780, "dark")
        self.chrome.quit()


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    Photographer(folder).work()
