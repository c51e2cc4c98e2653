"""trace_page_test.py: the page of --trace in Chromium, used by mouse and keys. Prints TAP. The page's own policy
forbids it to load anything. PAGE_TESTS=WORD,... runs the tests whose names contain one of these words.
"""
import os
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import browser  # noqa: E402
import browser_testing  # noqa: E402

WIDE, NARROW = (1280, 900), (320, 700)
EFFICIENT = ("--algo=efficient", "--n=8", "--input=ones")
TREES = ("--algo=efficient-smem,efficient-smem-padded", "--n=256", "--block=128")


class TracePageTest(browser_testing.BrowserTest):
    """Tests share one browser and the pages they build."""

    pages = {}

    def build(self, *flags):
        """The page of these runs, built once."""
        if flags not in self.pages:
            page = os.path.join(self.work, f"page{len(self.pages)}.html")
            program = os.environ.get("SCANBENCH", "./scanbench")
            subprocess.run([program, f"--trace={page}", "--samples=1", "--quiet", *flags], cwd=ROOT, check=True,
                           capture_output=True)
            self.pages[flags] = page
        return self.pages[flags]

    def open(self, *flags, at="", size=WIDE, scheme="light"):
        self.open_page(self.build(*flags), at, size, scheme)

    def open_page(self, page, at="", size=WIDE, scheme="light"):
        browser.resize(self.browser, *size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.browser.get("about:blank")  # else another fragment would not load the page again
        self.browser.get(f"file://{page}{at}")

    def js(self, script, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def texts(self, selector):
        return self.js("[...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector)

    def count(self, selector):
        return len(self.texts(selector))

    def press(self, *keys):
        from selenium.webdriver import ActionChains
        ActionChains(self.browser, duration=0).send_keys(*keys).perform()

    def choose(self, name, text):
        from selenium.webdriver.support.ui import Select
        Select(self.one(f"#{name}")).select_by_visible_text(text)

    def where(self):
        return self.one("#where").text

    # ---- The figure ----

    def test_cells_before_and_after(self):
        """The second launch adds the halves of the tree."""
        self.open(*EFFICIENT, at="#step=2")
        self.assertIn("launch 2 of 4: up_sweep,", self.where())
        hints = self.texts("#figure rect title")
        self.assertEqual(["output[3]: 4, i32", "output[3]: 4, i32"], [hint for hint in hints if hint.startswith("output[3]")])
        self.assertEqual(["output[7]: 4, i32", "output[7]: 8, i32"], [hint for hint in hints if hint.startswith("output[7]")])
        self.assertEqual(["output[7]: 8, i32"], self.texts("#figure .written title"))
        self.assertEqual(["block 0, thread 0: output[3] to output[7]", "block 0, thread 0: output[7] to output[7]"],
                         self.texts("#figure .arrow title"))

    def test_arrows_begin_and_end_at_their_cells(self):
        self.open(*EFFICIENT, at="#step=2")
        ends = self.js("""[...document.querySelectorAll('#figure .arrow')].map((arrow) => arrow.getAttribute('d')
            .match(/[\\d.]+/g).map(Number))""")
        boxes = self.js("""Object.fromEntries([...document.querySelectorAll('#figure rect.read, #figure rect.written')]
            .map((cell) => [cell.textContent + (cell.classList.contains('read') ? ' read' : ''), cell.getBBox().toJSON?.()
             ?? {x: cell.getBBox().x, y: cell.getBBox().y, width: cell.getBBox().width, height: cell.getBBox().height}]))""")
        top = boxes["output[3]: 4, i32 read"]
        bottom = boxes["output[7]: 8, i32"]
        x1, y1, x2, y2 = ends[0]
        self.assertAlmostEqual(top["x"] + top["width"] / 2, x1, delta=1)
        self.assertAlmostEqual(top["y"] + top["height"], y1, delta=2)
        self.assertAlmostEqual(bottom["x"] + bottom["width"] / 2, x2, delta=1)
        self.assertAlmostEqual(bottom["y"], y2, delta=3)

    def test_all_steps_are_one_figure(self):
        self.open(*EFFICIENT)
        self.choose("view", "all steps of the run")
        steps = self.texts("#figure .step")
        self.assertEqual(["step 1.1", "step 2.1", "step 3.1", "step 4.1"], steps)
        self.assertEqual(4, self.texts("#figure text.soft").count("output"))
        self.choose("view", "all steps of the launch")
        self.assertEqual(0, self.count("#figure .step"))

    def test_one_block(self):
        self.open("--algo=efficient-smem", "--n=128", "--block=32", at="#step=2")
        self.assertEqual(["block 0", "block 1"], self.texts("#figure text.soft")[1:3])
        self.choose("block", "1")
        self.assertNotIn("block 0", self.texts("#figure text.soft"))
        self.assertTrue(all("block 1" in text for text in self.texts("#request option")))

    @browser_testing.quick
    def test_figures_of_the_docs(self):
        """They are what scripts/figures.sh draws."""
        folder = os.path.join(self.work, "figures")
        subprocess.run(["scripts/figures.sh", f"--output={folder}"], cwd=ROOT, check=True, capture_output=True)
        names = sorted(os.listdir(folder))
        self.assertEqual(6, len(names))
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as new, \
                    open(os.path.join(ROOT, "docs/pictures", name), encoding="utf-8") as old:
                self.assertEqual(old.read(), new.read(), f"{name}: sh scripts/figures.sh draws it anew")

    # ---- Steps ----

    def test_keys_and_slider(self):
        from selenium.webdriver.common.keys import Keys
        self.open(*EFFICIENT)
        self.assertIn("launch 1 of 4", self.where())
        self.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
        self.assertIn("launch 2 of 4", self.where())
        self.press(Keys.END, Keys.ARROW_RIGHT)
        self.assertIn("launch 4 of 4", self.where())
        self.assertEqual("3", self.js("document.getElementById('slider').value"))
        self.press(Keys.HOME)
        self.one("#slider").send_keys(Keys.ARROW_RIGHT)
        self.assertIn("launch 2 of 4", self.where())
        self.one("#forward").click()
        self.one("#back").click()
        self.assertIn("launch 2 of 4", self.where())
        self.browser.find_elements("css selector", "#launches button")[2].click()
        self.assertIn("launch 3 of 4", self.where())
        self.assertIn("step=3", self.js("location.hash"))
        self.assertEqual("3 down_sweep, 1 step", self.one("#launches [aria-current]").text)

    def test_play(self):
        self.open(*EFFICIENT, at="#step=3")
        self.press(" ")
        self.assertEqual("true", self.one("#play").get_attribute("aria-pressed"))
        for _ in range(100):
            if "launch 4 of 4" in self.where():
                break
            time.sleep(0.05)
        self.assertIn("launch 4 of 4", self.where())
        self.assertEqual("false", self.one("#play").get_attribute("aria-pressed"))

    def test_another_run(self):
        self.open(*TREES, at="#step=4")
        self.choose("run", self.texts("#run option")[1])
        self.assertIn("efficient-smem-padded", self.one("#subject").text)
        self.assertIn("step 1 of", self.where())

    # ---- Requests ----

    def test_bank_conflicts_and_padding(self):
        """At stride 4, four words share a bank; padding spreads them. The sign does not need colour."""
        self.open(*TREES, at="#run=1&step=3")
        self.assertIn("3 conflicts", self.one("#banks-text").text)
        self.assertEqual(24, self.count("#banks .conflict"))
        self.assertEqual(24, self.texts("#banks .sign").count("✕"))
        self.assertEqual("32 of 32 lanes take part", self.one("#lanes-text").text)
        self.assertEqual(8, self.count("#banks .written"))
        self.open(*TREES, at="#run=2&step=3")
        self.assertIn("no conflict", self.one("#banks-text").text)
        self.assertEqual([0, 32], [self.count("#banks .conflict"), self.count("#banks .written")])

    def test_sums_are_those_of_counts(self):
        """Of all requests of a run without waits: the requests, sectors and conflicts that --counts has."""
        columns = ("global_load_requests", "global_load_sectors", "global_store_sectors", "shared_requests", "bank_conflicts")
        for flags in (("--algo=efficient-smem", "--n=1000", "--block=64", "--type=i32"),
                      ("--algo=naive", "--n=777", "--type=f64"), ("--algo=warp-shuffle", "--n=1024", "--block=32"),
                      ("--algo=brent-kung-smem", "--n=300", "--block=32", "--type=u64")):
            rows = os.path.join(self.work, "counts.csv")
            with open(rows, "w", encoding="utf-8") as file:
                subprocess.run([os.environ.get("SCANBENCH", "./scanbench"), "--device=emulator", "--counts", "--samples=1", "--quiet",
                                "--format=csv", f"--columns={','.join(columns)}", *flags], cwd=ROOT, check=True, stdout=file)
            with open(rows, encoding="utf-8") as file:
                counted = file.read().split()[1]
            self.open(*flags)
            requests = """(() => { const all = runs[0].steps.flatMap((step) => step.requests).map((request) =>
                ({...request, space: runs[0].arrays[request.array].space}));
                const sum = (wanted, of) => all.filter(wanted).reduce((so_far, request) => so_far + of(request), 0);
                const sectors = (request) => sectorsOf(runs[0], request).length, one = () => 1;
                const isLoad = ({space, kind}) => space === "global" && kind === "load";
                return [sum(isLoad, one), sum(isLoad, sectors),
                        sum(({space, kind}) => space === "global" && kind === "store", sectors),
                        sum(({space}) => space === "shared", one),
                        sum(({space}) => space === "shared", (request) => conflictsOf(runs[0], request))].join(); })()"""
            self.assertEqual(counted, self.js(requests), flags)

    def test_unused_bytes_of_sectors(self):
        self.open("--algo=efficient", "--n=64", "--input=ones", at="#step=2")
        self.assertEqual("4 sectors of 32 bytes, 16 of 128 bytes asked for; the others are hatched",
                         self.one("#sectors-text").text)
        self.assertEqual([4, 28], [self.count("#sectors .written"), self.count("#sectors .unused")])
        self.assertFalse(self.one("#banks-part").is_displayed())

    # ---- Everywhere ----

    def test_narrow(self):
        for view in ("step", "run"):
            self.open(*TREES, at=f"#step=3&view={view}", size=NARROW)
            self.assertEqual(NARROW[0], self.js("document.documentElement.scrollWidth"))
            self.assertGreater(*self.js("[figure.scrollWidth, figure.clientWidth]".replace("figure", "document.getElementById('figure')")))

    def test_dark(self):
        colours = "[document.body, document.querySelector('#figure .page')].map((each) => [getComputedStyle(each).backgroundColor, getComputedStyle(each).fill][each === document.body ? 0 : 1])"
        self.open(*EFFICIENT)
        self.assertEqual(["rgb(255, 255, 255)"] * 2, self.js(colours))
        self.open(*EFFICIENT, scheme="dark")
        self.assertEqual(["rgb(13, 17, 23)"] * 2, self.js(colours))

    def test_saved_svg_stands_alone(self):
        self.open(*EFFICIENT, at="#step=2")
        cells = self.count("#figure rect.cell")
        self.one("#save").click()
        path = os.path.join(self.work, "efficient-step-2.svg")
        for _ in range(200):
            if os.path.exists(path) and os.path.getsize(path) > 0:
                break
            time.sleep(0.02)
        svg = xml.etree.ElementTree.parse(path).getroot()
        name = "{http://www.w3.org/2000/svg}"
        self.assertEqual(f"{name}svg", svg.tag)
        self.assertEqual(cells, sum("cell" in rect.get("class", "") for rect in svg.iter(f"{name}rect")))
        self.assertIn("prefers-color-scheme: dark", svg.find(f"{name}style").text)

    def test_controls_have_names(self):
        self.open(*TREES)
        self.assertEqual([], self.js("""[...document.querySelectorAll('select, input, button, [tabindex]')].filter((each) =>
            !each.labels?.length && !each.getAttribute('aria-label') && !each.textContent.trim()).map((each) => each.id)"""))

    def test_no_text_is_run(self):
        with open(self.build(*EFFICIENT), encoding="utf-8") as file:
            text = file.read()
        page = os.path.join(self.work, "hostile.html")
        hostile = "\\u003cimg src=x onerror=hurt(1)>\\u003c/script>\\u003cscript>hurt(2)\\u003c/script>\\\" @STYLE@"
        for name in ('"kernel":"up_sweep_kernel"', '"name":"output"', '"algo":"efficient"', '"n":"8"'):
            self.assertIn(name, text)
            key = name.split(":")[0]
            text = text.replace(name, f'{key}:"{hostile}"')
        with open(page, "w", encoding="utf-8") as file:
            file.write(text)
        self.open_page(page, at="#step=2")
        self.js("window.hurt = (what) => { document.documentElement.dataset.hurt = what; }")
        self.choose("view", "all steps of the run")
        self.choose("view", "this step")
        self.one("#save").click()
        self.assertIn("onerror", self.where())
        time.sleep(0.2)
        self.assertIsNone(self.one("html").get_attribute("data-hurt"))
        self.assertEqual(0, self.count("img"))

    def test_nothing_to_draw(self):
        self.open("--algo=empty", "--n=8")
        self.assertIn("no run was traced", self.one("#subject").text)
        self.assertFalse(self.one("main").is_displayed())


if __name__ == "__main__":
    sys.exit(browser_testing.run_tests(TracePageTest))
