"""The main journey at the page, the same in both browsers."""

from person import PageTest, in_both_browsers


@in_both_browsers
class MainJourney(PageTest):
    def setUp(self):
        super().setUp()
        self.person.fill_at_once = self.person.fill  # typed, for once in both browsers

    def test_sign_in_work_offline_and_sign_out(self):
        person = self.person
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        address = self.newcomer("Nora Newcomer")
        person.sign_out()
        person.sign_in(address)
        self.assertEqual(self.chrome.words("#account .name"), "Nora Newcomer")

        person.add("Buy milk", "Buy bread", "Water the tomatoes")
        person.await_texts("Buy milk", "Buy bread", "Water the tomatoes")
        person.complete("Buy bread")
        person.press("Buy milk", ".text")
        self.assertEqual(
            self.chrome.execute_script("const { value, selectionStart, selectionEnd } = document.activeElement;"
                                       "return [value, selectionStart, selectionEnd];"), ["Buy milk", 8, 8])
        person.press("Water the tomatoes", ".text")  # closes the other task
        self.assertEqual(len(self.chrome.all(".editor")), 1)
        self.assertEqual(person.done(), ["Buy bread"])
        person.rename("Buy milk", "Buy oat milk")
        person.await_saved()
        person.remove("Water the tomatoes")
        person.await_texts("Buy oat milk", "Buy bread")
        self.person.undo()
        person.await_texts("Buy oat milk", "Water the tomatoes", "Buy bread")
        self.assertEqual(self.chrome.words("#toast-text"), "Changed: Buy milk")
        self.person.undo()
        person.await_texts("Buy milk", "Water the tomatoes", "Buy bread")
        self.person.undo()
        person.await_texts("Buy milk", "Buy bread", "Water the tomatoes")
        person.complete("Buy bread")
        person.rename("Buy milk", "Buy oat milk")
        person.await_saved()

        self.chrome.connect(False)
        person.add("Written on the train")
        person.complete("Buy oat milk")
        person.await_status("Offline, 2 changes kept")
        self.chrome.connect(True)
        person.await_status("Saved")
        person.refresh()
        person.await_texts("Written on the train", "Water the tomatoes", "Buy oat milk", "Buy bread")
        self.assertEqual(person.done(), ["Buy oat milk", "Buy bread"])

        person.sign_out()
        person.sign_in(address)
        person.await_texts("Written on the train", "Water the tomatoes", "Buy oat milk", "Buy bread")

    def test_a_name_of_the_network_without_encryption(self):
        # Browsers trust this address less than localhost, as they do a name of the network: it has no crypto.subtle.
        self.expected = ["Cross-Origin-Opener-Policy header has been ignored"]
        self.chrome.get(self.servers.page.replace("127.0.0.1", "0.0.0.0"))
        self.chrome.until(lambda: self.chrome.one("#policies button").is_displayed(), "the way in")
        self.chrome.one("#policies button").click()
        self.assertIn("Open this page by https, or as localhost.", self.chrome.words("#welcome-error"))

    def test_the_strip_stays_in_sight(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED", "401"]
        self.newcomer()
        self.fill(*[f"Paint board {number}" for number in range(40)])
        self.chrome.connect(False)
        self.person.add("Written on the train")
        self.person.await_status("Offline, 1 change kept")
        self.check_in_sight("#new", "#status")
        self.chrome.connect(True)
        self.person.await_status("Saved")
        self.end_session()
        self.check_in_sight("#new", "#status", "#ended strong", "#again")

    def check_in_sight(self, *selectors):
        """Checks that nothing covers these elements while the page is scrolled to its end."""
        covered = self.chrome.execute_script("""
            scrollTo(0, document.documentElement.scrollHeight);
            return arguments[0].filter((selector) => {
              const element = document.querySelector(selector), box = element.getBoundingClientRect();
              return !element.contains(document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2));
            });""", selectors)
        self.assertEqual(covered, [])
