"""The main journey at the page, the same in both browsers."""

import unittest

from chrome import Chrome
from firefox import Firefox
from person import PageTest


class MainJourney:
    def setUp(self):
        super().setUp()
        self.person.fill_at_once = self.person.fill  # typed, for once in both browsers

    def test_sign_in_work_offline_and_sign_out(self):
        person = self.person
        self.expected = self.without_connection
        address = self.newcomer("Nora Newcomer")
        person.sign_out()
        person.sign_in(address)
        self.assertEqual(self.chrome.words("#account .name"), "Nora Newcomer")

        person.add("Buy milk", "Buy bread", "Water the tomatoes")
        person.await_texts("Buy milk", "Buy bread", "Water the tomatoes")
        person.complete("Buy bread")
        person.rename("Buy milk", "Buy oat milk")
        person.await_saved()
        person.remove("Water the tomatoes")
        person.await_texts("Buy oat milk", "Buy bread")
        self.chrome.one("#undo").click()
        person.await_texts("Buy oat milk", "Water the tomatoes", "Buy bread")
        person.await_saved()

        self.chrome.connect(False)
        person.add("Written on the train")
        person.complete("Buy oat milk")
        person.await_status("Offline · 2 changes kept")
        self.chrome.connect(True)
        person.await_status("Saved")
        person.refresh()
        person.await_texts("Water the tomatoes", "Written on the train", "Buy oat milk", "Buy bread")
        self.assertEqual(person.done(), ["Buy oat milk", "Buy bread"])

        person.sign_out()
        person.sign_in(address)
        person.await_texts("Water the tomatoes", "Written on the train", "Buy oat milk", "Buy bread")


class InChromium(MainJourney, PageTest):
    browser_type = Chrome
    without_connection = ["ERR_INTERNET_DISCONNECTED"]


class InFirefox(MainJourney, PageTest):
    browser_type = Firefox
    without_connection = []


if __name__ == "__main__":
    unittest.main()
