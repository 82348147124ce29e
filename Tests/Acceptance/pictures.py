"""Makes the pictures of the page for the README, with the servers as the tests start them.

usage: .build/venv/bin/python Tests/Acceptance/pictures.py docs/pictures
"""

import pathlib
import sys
import time

import servers
from chrome import Chrome
from person import Person

TASKS = [
    "Book the train to Lisbon", "Water the tomatoes on the balcony", "Call grandmother about Sunday",
    "Return the library books", "Ask Jonas whether the drawings for the garden shed are ready",
]


class Photographer:
    def __init__(self, folder):
        self.folder = folder
        self.chrome = Chrome()
        self.person = Person(self.chrome, servers.shared().page)

    def take(self, name, width, height, scheme):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if width < 500 else 1, "mobile": False}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.chrome.prefer(scheme, motion="reduce")
        time.sleep(0.4)
        self.chrome.save_screenshot(str(self.folder / f"{name}.png"))

    def take_all(self, name, height=800):
        for width in [320, 768, 1280]:
            for scheme in ["light", "dark"]:
                self.take(f"{name}-{width}-{scheme}", width, height, scheme)

    def work(self):
        person = self.person
        person.open()
        person.await_welcome()
        self.take_all("welcome", 720)
        person.choose("b2c_1_sign_up")
        self.chrome.until(lambda: "/authorize" in self.chrome.current_url, "the authority")
        self.take("authority-1280-light", 1280, 720, "light")
        person.sign_up(f"pictures-{time.time()}@example.com", "Alice Example")
        person.add(*TASKS)
        person.complete(TASKS[1])
        person.complete(TASKS[3])
        person.await_saved()
        self.take_all("list", 760)
        person.press(TASKS[0], ".edit")
        person.remove(TASKS[2])
        self.take_all("edit", 760)
        self.chrome.one("#undo").click()
        self.chrome.one(".cancel").click()
        self.chrome.connect(False)
        person.add("Written on the train")
        person.await_status("Offline.*")
        self.take_all("offline", 760)
        self.chrome.connect(True)
        self.chrome.one("#account").click()
        self.take_all("person", 760)
        for document in ["api", "problems"]:
            person.open(f"/{document}.html")
            time.sleep(0.5)
            self.take(f"{document}-1280-light", 1280, 800, "light")
        self.chrome.quit()


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    Photographer(folder).work()
