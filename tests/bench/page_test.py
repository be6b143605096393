#!/usr/bin/python3
"""Opens the report of the committed results in Chromium: the figures are there, text and curves are legible in both colour
schemes, nothing overflows on a phone, and folds are open in print. Leaves screenshots for a reviewer.

usage: page_test.py SCREENSHOTS   writes PNG and PDF files to this directory. Exit status 77: there is no browser.
"""

import base64
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if webdriver is None or BROWSER is None or DRIVER is None:
    print("no browser; scripts/packages_browser.txt names the packages")
    sys.exit(77)
SCREENSHOTS = pathlib.Path(sys.argv.pop(1))
PHONE, DESKTOP = (390, 844), (1200, 900)

# Each visible text, curve and marker with its contrast to the colour behind it (WCAG 2).
CONTRASTS = """
const luminance = colour => {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const behind = element => {
  for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor;
    if (!/rgba\\(.*, 0\\)/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
const contrast = (element, colour) => {
  const [low, high] = [luminance(colour), luminance(behind(element))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const found = [];
for (const element of document.body.querySelectorAll("*")) {
  const style = getComputedStyle(element), words = [...element.childNodes].some(node => node.nodeType == 3 && node.data.trim());
  if (words && element.tagName != "style") {
    found.push(["text", element.textContent.slice(0, 30), contrast(element, element.closest("svg") ? style.fill : style.color)]);
  } else if (element.matches(".curve")) found.push(["curve", element.parentElement.className.baseVal, contrast(element, style.stroke)]);
  else if (element.matches(".marker")) found.push(["marker", element.parentElement.className.baseVal, contrast(element, style.fill)]);
}
return found;
"""
# The elements that reach beyond the window's right edge, but for those in boxes that scroll.
OVERFLOWING = """
const width = document.documentElement.clientWidth;
const found = [...document.body.querySelectorAll("*")].filter(element => element.getBoundingClientRect().right > width + 1
  && !element.parentElement.closest(".wide")).map(element => element.outerHTML.slice(0, 60));
if (document.documentElement.scrollWidth > width) found.push("the page");
return found;
"""
# Words of figures: how high their letters are, whether they are cut off or overlap.
FIGURE_TEXTS = """
return [...document.querySelectorAll("figure svg")].map(svg => {
  const box = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
  const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  return {width: box.width, height: box.height, pixels: 13 * svg.getScreenCTM().a, curves: svg.querySelectorAll(".curve").length,
    markers: svg.querySelectorAll(".marker").length,
    cut: texts.filter(([_, at]) => at.left < box.left - 1 || at.right > box.right + 1 || at.bottom > box.bottom + 1).map(([text]) => text),
    overlapping: texts.filter(([_, at], i) => texts.some(([_, other], j) => j > i && overlap(at, other))).map(([text]) => text)};
});
"""


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        figures = ROOT / "docs/figures"
        subprocess.run([ROOT / "scripts/report/run", "--results", figures / "sweep.jsonl", "--growth", figures / "growth.jsonl", "--output",
                        cls.temporary.name], check=True, stdout=subprocess.DEVNULL)
        cls.address = (pathlib.Path(cls.temporary.name) / "index.html").as_uri()
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        options = Options()
        options.binary_location = BROWSER
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(argument)
        cls.browser = webdriver.Chrome(service=Service(DRIVER), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.temporary.cleanup()

    def command(self, name, **parameters):
        return self.browser.execute_cdp_cmd(name, parameters)

    def open(self, size=DESKTOP, scheme="light", media="screen"):
        self.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=size == PHONE)
        self.command("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.browser.get(self.address)

    def unfold(self):
        self.browser.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true;")

    def take_screenshot(self, name):
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        image = self.command("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        (SCREENSHOTS / f"{name}.png").write_bytes(base64.b64decode(image["data"]))

    def test_three_figures_have_curves_and_whole_words(self):
        for size in (DESKTOP, PHONE):
            self.open(size)
            self.assertEqual(len(self.browser.find_elements("css selector", "figure")), 3)
            for drawn in self.browser.execute_script(FIGURE_TEXTS):
                self.assertGreater(min(drawn["width"], drawn["height"]), 200)
                self.assertGreaterEqual(drawn["curves"], 3)
                self.assertGreater(drawn["markers"], drawn["curves"])
                self.assertGreaterEqual(drawn["pixels"], 9)
                self.assertEqual((drawn["cut"], drawn["overlapping"]), ([], []))

    def test_is_legible_in_both_colour_schemes(self):
        papers = []
        for scheme in ("light", "dark"):
            self.open(scheme=scheme)
            self.take_screenshot(scheme)
            self.unfold()
            papers.append(self.browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
            contrasts = self.browser.execute_script(CONTRASTS)
            self.assertEqual({kind for kind, _, _ in contrasts}, {"text", "curve", "marker"})
            for kind, what, contrast in contrasts:
                self.assertGreaterEqual(contrast, 4.5 if kind == "text" else 3, f"{scheme}: {kind} {what}")
        self.assertNotEqual(*papers)

    def test_fits_a_phone(self):
        self.open(PHONE)
        self.take_screenshot("phone")
        self.assertEqual(self.browser.execute_script(OVERFLOWING), [])
        self.unfold()
        self.assertEqual(self.browser.execute_script(OVERFLOWING), [])

    def test_is_printed_whole(self):
        self.open(scheme="dark")
        self.browser.execute_script("""
            addEventListener("beforeprint", () => {
              window.unfolded = [...document.querySelectorAll("details")].map(fold => fold.lastElementChild.checkVisibility());
            });""")
        pdf = self.command("Page.printToPDF", preferCSSPageSize=True)
        (SCREENSHOTS / "print.pdf").write_bytes(base64.b64decode(pdf["data"]))
        unfolded = self.browser.execute_script("return window.unfolded")
        self.assertGreater(len(unfolded), 3)
        self.assertTrue(all(unfolded), unfolded)
        self.open((794, 1123), scheme="dark", media="print")
        self.unfold()
        self.take_screenshot("print")
        self.assertEqual(self.browser.execute_script("return getComputedStyle(document.querySelector('figure text')).fill"), "rgb(28, 31, 34)")


if __name__ == "__main__":
    unittest.main()
