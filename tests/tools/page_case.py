# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What the tests of pages share: that a page is its data and its own scripts, and what its plots
say."""

import base64
import collections
import hashlib
import html.parser
import json
import re

from browser import BrowserTest
from tool_case import ToolTest

LARGEST_BYTES = 3_000_000


class Parser(html.parser.HTMLParser):
    """Collects the elements with their attributes, and what scripts and styles hold."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.contents = [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem in ("script", "style"):
            self.contents.append((*self.elements[-1], data))


def parsed(page):
    parser = Parser()
    parser.feed(page)
    parser.close()
    return parser


def told(text):
    """Numbers as the terminal has them."""
    return text.replace("\u00a0", " ").replace("\u2212", "-").replace("\u2013",
                                                                      "-").replace("! ", "")


class PageTest(ToolTest):
    def data_of(self, page):
        """Nothing in it ends its element, and it is not too large."""
        self.assertLess(len(page.encode()), LARGEST_BYTES)
        text, = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        self.assertNotIn("<", text)
        self.assertTrue(page.endswith("</script>\n</body>\n</html>\n"))
        return json.loads(text)

    def check_data(self, page, data):
        self.assertEqual(self.data_of(page), data)

    def check_policy(self, page):
        """The hash of each script and of its style is named, and nothing else."""
        parser = parsed(page)
        policy, = [attrs["content"] for tag, attrs in parser.elements
                   if attrs.get("http-equiv") == "Content-Security-Policy"]
        allowed = dict(rule.split(" ", 1) for rule in policy.split("; "))
        self.assertEqual(allowed.keys(), {"default-src", "base-uri", "form-action", "style-src",
                                          "script-src"})
        hashes = collections.defaultdict(list)
        for tag, attrs, content in parser.contents:
            if attrs.get("type") != "application/json":
                hashes[tag].append("'sha256-%s'" % base64.b64encode(hashlib.sha256(content.encode())
                                                                    .digest()).decode())
        self.assertEqual(hashes["style"], allowed["style-src"].split())
        self.assertEqual(hashes["script"], allowed["script-src"].split())
        self.assertEqual({allowed[rule] for rule in ("default-src", "base-uri", "form-action")},
                         {"'none'"})

    def check_elements(self, page):
        """It has no others than every page has, and loads nothing."""
        parser = parsed(page)
        self.assertLessEqual({tag for tag, _ in parser.elements},
                             {"html", "head", "meta", "title", "style", "script", "body", "main",
                              "noscript", "footer", "p", "details", "summary", "pre"})
        for tag, attrs in parser.elements:
            self.assertTrue(attrs.keys().isdisjoint({"src", "href", "style", "onload"}),
                            (tag, attrs))


class PlotsTest(BrowserTest):
    def page(self, expression):
        return self.browser.evaluate(expression)

    def points(self, plot):
        """What a plot says to a user with a keyboard, from the first point on."""
        self.page(f"document.getElementById('{plot}').focus()")
        said = []
        self.browser.key("Home")
        while not said or said[-1] not in said[:-1]:
            said.append(told(self.page(f"document.querySelector('#{plot} ~ .tip').textContent")))
            self.browser.key("ArrowRight")
        return said[:-1]
