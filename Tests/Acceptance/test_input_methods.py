"""Words that are composed with an input method: the keys that end a word, or a conversion, do nothing else."""

import itertools

from person import NewcomerTest, in_both_browsers

# A browser tells of a key that an input method takes in one of these ways: while the word is composed, or, in Safari, just after it.
WAYS = [{"isComposing": True}, {"keyCode": 229}]
# Composes a word in a field, and presses the key with which the input method takes or drops it.
COMPOSE = """
    const [field, key, how] = arguments;
    const compose = (type, data) => field.dispatchEvent(new CompositionEvent(type, { data, bubbles: true }));
    const press = () => field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...how }));
    field.focus();
    compose("compositionstart", "");
    field.value += "かんじ";
    compose("compositionupdate", "かんじ");
    field.dispatchEvent(new InputEvent("input", { isComposing: true, bubbles: true }));
    if (how.isComposing) press();
    compose("compositionend", "漢字");
    if (!how.isComposing) press();"""


def in_each_way(*keys):
    return itertools.product(keys, WAYS)


@in_both_browsers
class Composing(NewcomerTest):
    def setUp(self):
        super().setUp()
        self.person.save("Buy milk", "Buy bread")

    def compose(self, selector, key, how):
        self.chrome.execute_script(COMPOSE, self.chrome.one(selector), key, how)

    def test_an_edit_goes_on(self):
        for key, how in in_each_way("Enter", "Escape"):
            for name in ["text", "notes"]:
                self.person.press("Buy milk", ".edit")
                self.compose(f".editor [name={name}]", key, {**how, "ctrlKey": name == "notes"})
                self.assertEqual(self.chrome.one(f".editor [name={name}]").get_attribute("value")[-3:], "かんじ")
                self.chrome.one(".editor .cancel").click()
        self.assertEqual(self.saved(), [("Buy milk", False), ("Buy bread", False)])

    def test_a_search_goes_on(self):
        for key, how in in_each_way("Escape"):
            self.chrome.one("#search-open").click()
            self.compose("#query", key, how)
            self.assertEqual(self.chrome.one("#query").get_attribute("value"), "かんじ")
            self.chrome.one("#search-open").click()

    def test_no_shortcut_acts(self):
        for key, how in in_each_way("n", "/", "?", "e", "F2", "Delete", "z", "ArrowDown"):
            box = self.person.row("Buy milk").find_element("css selector", ".check")
            self.chrome.execute_script("""
                const [target, key, how] = arguments;
                target.focus();
                target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...how }));""",
                box, key, {**how, "ctrlKey": key == "z", "altKey": key == "ArrowDown"})
            self.assertEqual(self.chrome.switch_to.active_element, box, (key, how))
            self.assertEqual(self.chrome.all("dialog[open], #search:not([hidden]), .editor"), [])
            self.assertEqual(self.person.texts(), ["Buy milk", "Buy bread"], (key, how))

    def test_dragging_goes_on(self):
        for key, how in in_each_way("Escape"):
            outcome = self.chrome.execute_script("""
                const [key, how] = arguments, list = document.getElementById("rows"), handle = list.querySelector(".handle");
                list.setPointerCapture = list.releasePointerCapture = () => {}; // no real pointer is here
                const point = (target, type) => target.dispatchEvent(
                  new PointerEvent(type, { pointerId: 7, button: 0, clientY: handle.getBoundingClientRect().top, bubbles: true }));
                point(handle, "pointerdown");
                window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...how }));
                const goesOn = list.classList.contains("dragging");
                point(list, "pointerup");
                return [goesOn, list.classList.contains("dragging")];""", key, how)
            self.assertEqual(outcome, [True, False], how)
