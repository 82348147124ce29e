"""A headless Firefox of Debian's, by Marionette, the protocol that its own driver speaks to it.

https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html: a message is its length, a colon and JSON.
"""

import atexit
import contextlib
import functools
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


@functools.cache
def used_profile():
    """A profile with which Firefox has started once: from a copy it starts in half of the processor's time."""
    folder = tempfile.mkdtemp(prefix="tasks-firefox-")
    atexit.register(shutil.rmtree, folder, True)
    browser = Firefox(folder)
    browser.leave()
    atexit.unregister(browser.end)
    browser.kill()
    return folder


class Firefox(Browser, webdriver.Remote):
    def __init__(self, profile=None):
        """With a profile, the folder of one that is kept after a kill."""
        self.folder = pathlib.Path(profile or tempfile.mkdtemp(prefix="tasks-firefox-"))
        if not profile:
            shutil.copytree(used_profile(), self.folder, ignore=shutil.ignore_patterns("lock", ".parentlock"), dirs_exist_ok=True)
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

    def in_browser(self, script, *arguments):
        """Runs a script with the rights of the browser itself."""
        self.command_executor.call("Marionette:SetContext", value="chrome")
        try:
            return self.execute_script(script, *arguments)
        finally:
            self.command_executor.call("Marionette:SetContext", value="content")

    def connect(self, is_connected):
        self.in_browser(CONNECTION, is_connected)

    def complaints(self):
        return [{"message": message} for message in self.in_browser(ERRORS)]

    def leave(self):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self.command_executor.call("Marionette:Quit", flags=["eForceQuit"])
            self.process.wait(timeout=15)

    def quit(self):
        self.leave()
        self.end()

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
