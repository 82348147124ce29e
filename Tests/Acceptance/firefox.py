"""A headless Firefox of Debian's, by Marionette, the protocol that its own driver speaks to it.

https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html: a message is its length, a colon and JSON.
"""

import atexit
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection

from browser import PATIENCE, Browser

# The device that points is a mouse: without windows, Firefox finds none. No page of its own is opened, and nothing looked for.
PREFERENCES = "".join(f'user_pref("{name}", {value});\n' for name, value in [
    ("network.socket.ip_addr_any.disabled", "false"),  # 0.0.0.0 is this machine, without the trust in localhost
    ("marionette.port", 0), ("ui.primaryPointerCapabilities", 6), ("ui.allPointerCapabilities", 6),
    ("browser.startup.page", 0), ("startup.homepage_welcome_url", '"about:blank"'), ("browser.aboutwelcome.enabled", "false"),
    ("browser.startup.homepage_override.mstone", '"ignore"'), ("browser.newtabpage.enabled", "false"),
    ("dom.ipc.processPrelaunch.enabled", "false"), ("app.normandy.enabled", "false"), ("extensions.getAddons.cache.enabled", "false")])

# Selenium's names of the commands that the tests use, and Marionette's.
COMMANDS = {
    "newSession": "NewSession", "get": "Navigate", "getCurrentUrl": "GetCurrentURL", "refresh": "Refresh",
    "findElement": "FindElement", "findElements": "FindElements",
    "findChildElement": "FindElement", "findChildElements": "FindElements",
    "clickElement": "ElementClick", "clearElement": "ElementClear", "sendKeysToElement": "ElementSendKeys",
    "newWindow": "NewWindow", "switchToWindow": "SwitchToWindow", "close": "CloseWindow",
    "w3cGetWindowHandles": "GetWindowHandles", "w3cGetCurrentWindowHandle": "GetWindowHandle",
    "getElementText": "GetElementText", "getElementAriaLabel": "GetComputedLabel",
    "w3cGetActiveElement": "GetActiveElement", "w3cExecuteScript": "ExecuteScript",
    "w3cExecuteScriptAsync": "ExecuteAsyncScript", "actions": "PerformActions", "clearActions": "ReleaseActions",
}

# Errors of pages since the last call; a warning is none.
ERRORS = """
    const errors = Services.console.getMessageArray().filter((it) =>
      it instanceof Ci.nsIScriptError && !(it.flags & Ci.nsIScriptError.warningFlag) && it.sourceName.startsWith("http"));
    Services.console.reset();
    return errors.map((it) => `${it.sourceName}: ${it.errorMessage}`);"""

# Offline, Firefox still reaches this machine, where the servers of the tests are; so each request is refused, too.
CONNECTION = """
    const [isConnected] = arguments;
    Services.io.offline = !isConnected;
    window.refuse ??= (request) => request.QueryInterface(Ci.nsIRequest).cancel(Cr.NS_ERROR_OFFLINE);
    Services.obs[isConnected ? "removeObserver" : "addObserver"](window.refuse, "http-on-modify-request");"""


# Forgets all that pages keep, and what they complained about.
FORGETTING = """
    const done = arguments[arguments.length - 1];
    Services.clearData.deleteData(Ci.nsIClearDataService.CLEAR_ALL, () => { Services.console.reset(); done(); });"""


class Marionette(RemoteConnection):
    """Sends Selenium's commands to a Firefox that listens on a port."""

    def __init__(self, port):
        super().__init__(client_config=ClientConfig(f"http://127.0.0.1:{port}"))
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.stream = self.socket.makefile("rb")
        self.count = 0
        self.receive()  # the greeting

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            if not (byte := self.stream.read(1)):
                raise ConnectionError("Firefox has ended")
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def call(self, name, **parameters):
        """The error and the result."""
        self.count += 1
        message = json.dumps([0, self.count, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        return error, result

    def execute(self, command, params):
        if command in ("findChildElement", "findChildElements"):
            params = {**params, "element": params["id"]}
        error, result = self.call(f"WebDriver:{COMMANDS[command]}", **params)
        if error:
            return {"status": 500, "value": json.dumps({"value": error})}
        return {"value": result["value"] if isinstance(result, dict) and list(result) == ["value"] else result}


class Firefox(Browser, webdriver.Remote):
    spare = []  # those whose tests have ended

    @classmethod
    def take(cls):
        """One that has nothing of an earlier test."""
        return cls.spare.pop() if cls.spare else cls()

    def __init__(self, profile=None):
        """With a profile, the folder of one that is kept after a kill."""
        self.folder = pathlib.Path(profile or tempfile.mkdtemp(prefix="tasks-firefox-"))
        self.is_spare = not profile
        self.is_connected = True
        (self.folder / "user.js").write_text(PREFERENCES)
        # Marionette may change the browser's own state, which `connect` needs, only with system access.
        self.process = subprocess.Popen(
            [shutil.which("firefox-esr"), "--headless", "--no-remote", "--marionette", "--remote-allow-system-access",
             "--profile", self.folder],
            env={**os.environ, "HOME": str(self.folder), "LANG": "C.UTF-8"}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.end)
        super().__init__(command_executor=Marionette(self.port()), options=webdriver.FirefoxOptions())

    def port(self):
        """Where it listens, which it writes into its profile."""
        file, last = self.folder / "MarionetteActivePort", time.monotonic() + PATIENCE
        while time.monotonic() < last and self.process.poll() is None:
            with contextlib.suppress(FileNotFoundError, ValueError):
                return int(file.read_text())
            time.sleep(0.05)
        self.end()
        raise RuntimeError("Firefox does not start")

    @contextlib.contextmanager
    def rights(self):
        """Lets scripts run with the rights of the browser itself."""
        self.command_executor.call("Marionette:SetContext", value="chrome")
        try:
            yield
        finally:
            self.command_executor.call("Marionette:SetContext", value="content")

    def in_browser(self, script, *arguments):
        with self.rights():
            return self.execute_script(script, *arguments)

    def connect(self, is_connected):
        self.is_connected = is_connected
        self.in_browser(CONNECTION, is_connected)

    def complaints(self):
        return [{"message": message} for message in self.in_browser(ERRORS)]

    def quit(self):
        """Leaves the browser to the next test, as a start takes longer than most tests; one with a profile of its own ends."""
        if self.is_spare:
            self.forget()
            self.spare.append(self)
            return
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self.command_executor.call("Marionette:Quit", flags=["eForceQuit"])
            self.process.wait(timeout=15)
        self.end()

    def forget(self):
        if not self.is_connected:
            self.connect(True)
        old = self.window_handles
        self.switch_to.new_window("tab")
        new = self.current_window_handle
        for handle in old:
            self.switch_to.window(handle)
            self.close()
        self.switch_to.window(new)
        with self.rights():
            self.execute_async_script(FORGETTING)

    def kill(self):
        """Ends it and what it started, as a crash does: nothing is written any more."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        (self.folder / "MarionetteActivePort").unlink(missing_ok=True)

    def end(self):
        """The same, however far it came, and nothing of it is left."""
        atexit.unregister(self.end)
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
