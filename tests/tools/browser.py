# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A browser without a window, for tests of pages: Chromium by its DevTools protocol over a pair of
pipes."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import unittest

from tool_case import ToolTest

TIMEOUT_S = 100  # with a browser that does not answer
CODES = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40, "Home": 36, "End": 35,
         "Tab": 9, "Escape": 27, "Enter": 13}

# What a reader would stumble over: text outside its plot or over other text, a page wider than the
# window.
LAYOUT = """(() => {
    const faults = [];
    if (document.documentElement.scrollWidth > innerWidth)
        faults.push('page wider than the window: ' + document.documentElement.scrollWidth);
    for (const svg of document.querySelectorAll('figure > svg')) {
        const edge = svg.getBoundingClientRect();
        const boxes = [...svg.querySelectorAll('text')]
            .map(t => [t.textContent, t.getBoundingClientRect()]);
        for (const [text, box] of boxes)
            if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 ||
                box.bottom > edge.bottom + 1)
                faults.push(svg.id + ': ' + text + ' is outside');
        for (let i = 0; i < boxes.length; i++)
            for (let k = 0; k < i; k++) {
                const a = boxes[i][1], b = boxes[k][1];
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                // Boxes have room above and below the letters.
                if (wide > 1 && high > 0.35 * Math.min(a.height, b.height))
                    faults.push(svg.id + ': ' + boxes[i][0] + ' is over ' + boxes[k][0]);
            }
    }
    return faults;
})()"""


class Chromium:
    """One process, one page at a time. `complaints` is what the page said on its console since it
    was opened."""

    def __init__(self, program, folder):
        theirs_in, self.pipe_out = os.pipe()
        self.pipe_in, theirs_out = os.pipe()

        def descriptors():
            # First to numbers out of the way: one end may be 3 or 4 itself.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage",
             f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"],
            close_fds=False, preexec_fn=descriptors, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.number, self.session = b"", 0, None
        self.events, self.complaints = [], []
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"]
                      == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self.pipe_out)
        os.close(self.pipe_in)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def read(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.pipe_in], [], [], TIMEOUT_S)
            data = os.read(self.pipe_in, 1 << 20) if ready else b""
            if not data:
                raise EOFError("the browser went away")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def take(self, message):
        self.events.append(message["method"])
        said = message.get("params", {})
        if message["method"] == "Runtime.exceptionThrown":
            self.complaints.append(said["exceptionDetails"].get("exception", {})
                                   .get("description", str(said)))
        elif message["method"] == "Runtime.consoleAPICalled":
            self.complaints.append(str([each.get("value", each) for each in said["args"]]))
        elif message["method"] == "Log.entryAdded":
            self.complaints.append(said["entry"]["text"])

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.pipe_out, data):]
        while True:
            message = self.read()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message:
                self.take(message)

    def open(self, path, width=1200, height=900, dark=False):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.resize(width, height)
        self.events, self.complaints = [], []
        self.call("Page.navigate", url=f"file://{path}")
        while "Page.loadEventFired" not in self.events:
            self.take(self.read())

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def evaluate(self, expression):
        """The value of an expression of JavaScript, or of a promise of one, in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description"))
        return result["result"].get("value")

    def settle(self):
        """Until what a new size, or a key, sets off has been drawn."""
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=CODES[name])

    def type(self, character):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=character, text=character)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    def mouse(self, kind, x, y, **parameters):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **parameters)

    def screenshot(self, path, whole=True):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        more = {"captureBeyondViewport": True, "clip": clip} if whole else {}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", **more)["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])


class BrowserTest(ToolTest):
    """Has a browser for all of its tests; skipped where there is no chromium."""

    @classmethod
    def setUpClass(cls):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            raise unittest.SkipTest("there is no chromium")
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # it may still write there
        cls.addClassCleanup(folder.cleanup)
        cls.browser = Chromium(program, folder.name)
        cls.addClassCleanup(cls.browser.close)
