"""What the tests ask of every browser."""

import contextlib
import time

from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE = 180  # seconds; far more than a busy machine needs, so that only what never happens fails


class Browser:
    @classmethod
    def take(cls):
        """A browser that has nothing of an earlier test."""
        return cls()

    def reload(self):
        """Reloads the page as a script does; Firefox's driver would do it without the worker."""
        self.execute_script("location.reload()")

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

    def focused(self):
        """What a screen reader would call the element with the focus."""
        element = self.switch_to.active_element
        return element.accessible_name or element.tag_name

    def await_focus(self, name):
        """Waits for the focus: a key is done when the page has answered it."""
        self.until(lambda: self.focused() == name, f"the focus on {name}")

    def all(self, selector):
        return self.find_elements(By.CSS_SELECTOR, selector)

    def until(self, condition, what, seconds=PATIENCE):
        """Waits for a condition of this browser; elements that a page has just replaced do not count."""
        last, pause = time.monotonic() + seconds, 0.02
        while time.monotonic() < last:
            with contextlib.suppress(Exception):
                if value := condition():
                    return value
            time.sleep(pause)
            pause = min(1.3 * pause, 0.3)  # each look takes time that the page then lacks
        raise TimeoutException(f"waited for {what}")
