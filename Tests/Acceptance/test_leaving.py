"""The right to leave: everything deleted, once the name is typed."""

import urllib.error

import axe
from firefox import Firefox
from person import PageTest
from selenium.webdriver.common.keys import Keys


class Leaving:
    def open_deletion(self):
        self.newcomer("Nora Newcomer")
        self.person.save("Buy milk")
        self.person.open_account()
        self.chrome.one("#data summary").click()
        self.chrome.one("#delete-list").click()

    def note(self, words):
        self.chrome.until(lambda: words in self.chrome.one("#data-note").text, f"the words {words}")

    def delete(self, name):
        field = self.chrome.one("#deletion-name")
        field.clear()
        field.send_keys(name, Keys.ENTER)

    def begin(self):
        """The newcomer has signed in again after the deletion: a token of its very second is refused."""
        try:
            return self.request("POST", "/api/tasks", {"task": "New"})["Id"]
        except urllib.error.HTTPError as error:
            self.assertEqual(error.code, 403)
            return None

    def test_the_list_is_deleted_once_the_name_is_typed(self):
        self.open_deletion()
        self.delete("Nora")
        self.note("Nothing was deleted. Type Nora Newcomer")
        self.assertEqual(self.saved(), [("Buy milk", False)])
        self.delete("Nora Newcomer")
        self.person.await_welcome()
        self.assertEqual(self.on_server(), [])
        self.assertEqual(self.chrome.until(self.begin, "a new token"), 2)
        self.person.sign_in(self.address)
        self.person.await_texts("New")


class InChromium(Leaving, PageTest):
    def test_the_dialog_is_accessible(self):
        self.open_deletion()
        self.delete("Nora")
        self.note("Nothing was deleted.")
        axe.check_looks(self, "the account's data")

    def test_a_server_that_cannot_be_reached_deletes_nothing(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.open_deletion()
        self.chrome.connect(False)
        self.delete("Nora Newcomer")
        self.note("The server cannot be reached.")
        self.chrome.connect(True)
        self.assertEqual(self.saved(), [("Buy milk", False)])


class InFirefox(Leaving, PageTest):
    browser_type = Firefox
