"""page_test.py: the page of scripts/report.sh in Chromium, used as a hand does: by mouse and by
keys. Prints TAP. The page's own policy forbids it to load anything, so that a page that works
needs no other file. PAGE_TESTS=WORD,... runs the tests whose names contain one of these words.
"""
import contextlib
import csv
import glob
import gzip
import itertools
import os
import re
import subprocess
import sys
import time
import urllib.parse
import xml.etree.ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import browser  # noqa: E402
import browser_testing  # noqa: E402
import csv_rows  # noqa: E402

RESULTS = "results/nvidia-h200"
SECONDS_TO_FIRST_PICTURE = 1
MOST_BYTES = 1_000_000
WIDE, NARROW = (1280, 900), (400, 800)
SYNTHETIC = {"op": "scan", "algo": "a", "type": "i32", "kind": "exclusive", "n": "1024", "device": "gpu0",
             "device_name": "card", "cache": "cold", "time_ms": "1", "noise_pct": "1", "gb_s": "8", "check": "passed"}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cold_rows(**cells):
    """The rows of scan.csv with cold caches and these cells."""
    cells = {**cells, "cache": "cold"}
    return [row for row in read(os.path.join(ROOT, RESULTS, "scan.csv")) if cells.items() <= row.items()]


def microseconds(row):
    return f"{float(format(1000 * float(row['time_ms']), '.4g')):g} µs"


def size_text(n):
    power = int(n).bit_length() - 1
    return f"2^{power}" if int(n) == 2**power and power >= 10 else n


class PageTest(browser_testing.BrowserTest):
    """Tests share one browser; each has a folder of its own."""

    pages = {}

    # ---- Opening ----

    def build(self, *files):
        """The page of these files, built once."""
        if files not in self.pages:
            page = os.path.join(self.work, f"page{len(self.pages)}.html")
            subprocess.run(["scripts/report.sh", f"--output={page}", *files], cwd=ROOT, check=True, capture_output=True)
            self.pages[files] = page
        return self.pages[files]

    def open(self, *files, at="", size=WIDE):
        browser.resize(self.browser, *size)
        self.browser.get("about:blank")  # else another fragment would not load the page again
        self.browser.get(f"file://{self.build(*files)}{at}")

    def write(self, name, rows):
        """A CSV file of rows that are SYNTHETIC but for the given columns."""
        rows = [{**SYNTHETIC, **row} for row in rows]
        path = os.path.join(self.work, name)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(itertools.chain(*rows))), restval="")
            writer.writeheader()
            writer.writerows(rows)
        return path

    # ---- Looking ----

    def js(self, script, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def lines(self):
        return self.js("[...document.querySelectorAll('.labels title')].map((title) => title.textContent)")

    def visible(self, selector):
        return self.js("document.querySelector(arguments[0]).checkVisibility()", selector)

    def column(self, name):
        return self.js("""(() => { const at = [...document.querySelectorAll('th [data-column]')]
            .findIndex((button) => button.dataset.column === arguments[0]);
            return [...document.querySelectorAll('tbody tr')].map((tr) => tr.cells[at].textContent); })()""", name)

    def points(self, line):
        """Places in the window of the marks of a line."""
        return self.js("""[...[...document.querySelectorAll('.lines > g')].find((g) => g.__data__.name === arguments[0])
            .querySelectorAll('.mark')].map((mark) => { const box = mark.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; })""", line)

    def xs(self, line):
        """Where a line has points."""
        return self.js("view.lines.find((line) => line.name === arguments[0]).points.map((point) => point.x)", line)

    def cells(self, name):
        """The values of a column in all rows of the chart."""
        return set(self.js("view.drawn.map((row) => cell(row, arguments[0]))", name))

    def tip(self):
        return self.one("#tip").text

    # ---- Acting ----

    def options(self, name):
        """{text: enabled} of a list; empty if it is not there."""
        return dict(self.js("""[...document.querySelectorAll(`#controls [name="${arguments[0]}"] option`)]
            .map((option) => [option.text, !option.disabled])""", name))

    def enabled(self, name):
        """The values that can be chosen in a list."""
        return self.js("""[...document.querySelectorAll(`#controls [name="${arguments[0]}"] option:enabled`)]
            .map((option) => option.value)""", name)

    def choose(self, name, text):
        from selenium.webdriver.support.ui import Select
        # Chromium's Back skips pages that nobody has clicked on; a choice alone is no click.
        self.one("h1").click()
        Select(self.one(f'#controls [name="{name}"]')).select_by_visible_text(text)

    def go(self, **chosen):
        """To another address of the page, as Back does."""
        self.js("[history.replaceState(null, '', arguments[0]), dispatchEvent(new Event('popstate'))]",
                f"#{urllib.parse.urlencode(chosen)}")

    def hover(self, line, which=-1):
        from selenium.webdriver import ActionChains
        self.js("document.getElementById('chart').scrollIntoView({block: 'center'})")
        x, y = self.points(line)[which]
        actions = ActionChains(self.browser, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        actions.perform()

    def press(self, *keys):
        from selenium.webdriver import ActionChains
        ActionChains(self.browser, duration=0).send_keys(*keys).perform()

    def saved(self, kind, name):
        """The path of the file that a button saves."""
        path = os.path.join(self.work, name)
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        self.one(f'[data-save="{kind}"]').click()
        for _ in range(200):
            if os.path.exists(path) and os.path.getsize(path) > 0:
                return path
            time.sleep(0.02)
        self.fail(f"{name} was not saved; there is {os.listdir(self.work)}")

    # ---- The first look ----

    def seconds_to_open(self, source):
        """In processor time, since other processes may take the processor away."""
        self.browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        self.open(source)
        metrics = self.browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        self.browser.execute_cdp_cmd("Performance.disable", {})
        return {metric["name"]: metric["value"] for metric in metrics}["TaskDuration"]

    def test_first_look(self):
        """Scan in GB/s, within a second, in less than a megabyte."""
        with open(self.build(RESULTS), "rb") as file:
            self.assertLess(len(gzip.compress(file.read())), MOST_BYTES)
        # The least of three, since other processes take the caches away.
        seconds = min(self.seconds_to_open(RESULTS) for _ in range(3))
        self.assertTrue(0 < seconds < SECONDS_TO_FIRST_PICTURE, f"{seconds} s")
        self.assertLessEqual({"memcpy", "cub", "auto", "naive", "lookahead"}, set(self.lines()))
        self.assertEqual(["elements n", "GB/s"], [self.one(f"#chart .{axis}-title").text for axis in "xy"])
        for part in ("op=scan", "type=i32", "kind=exclusive", "cache=cold", "device_name=NVIDIA H200", "file=scan.csv"):
            self.assertIn(part, self.one("#constant").text)
        self.assertIn("NVIDIA H200", self.one("#subject").text)

    def test_theme(self):
        self.open(f"{RESULTS}/scan.csv")
        page = "getComputedStyle(document.body).backgroundColor"
        before = self.js(page)
        self.one("#theme").click()
        self.assertEqual({"rgb(255, 255, 255)", "rgb(13, 17, 23)"}, {before, self.js(page)})

    # ---- Nothing is pooled that is not the same ----

    def test_each_column_has_lines_of_its_own(self):
        """Rows that differ in one column, whichever, are never in one line."""
        differing = [name for name, column_class in csv_rows.CLASSES.items() if column_class not in ("MEASURE", "OUTCOME")
                     and name not in ("n", "pot", "date", "kernel", "launch", "line")]
        usual = {name: {"TEXT": "usual"}.get(csv_rows.KINDS[name], "1") for name in differing if name not in SYNTHETIC}
        others = {"TEXT": "other", "TYPED": "0.5", "COUNT": "2"}
        rows = [usual] + [{**usual, name: others[csv_rows.KINDS[name]]} for name in differing]
        file, other = self.write("own.csv", rows), self.write("own2.csv", [usual])
        everything = "&".join(f"{name}=*" for name in [*differing, "file"])
        self.open(file, other, at=f"#{everything}")
        self.assertEqual(len(differing) + 2, self.js("view.lines.length"))
        self.assertEqual(len(set(self.lines())), len(self.lines()))
        self.assertNotIn("median", self.one("#notes").text)

    def test_ratio_is_that_of_one_file(self):
        """Of several files with a row of cub, the one that is chosen counts."""
        rows = {row["algo"]: row for row in cold_rows(n="4096")}
        self.open(RESULTS, at="#y=speedup&base=cub")
        self.hover("auto", self.xs("auto").index(4096))
        ratio = float(rows["cub"]["time_ms"]) / float(rows["auto"]["time_ms"])
        self.assertIn("4096", self.tip())
        self.assertIn(f"speedup {ratio:.4g}", self.tip())
        self.choose("file", "all, each a line")
        if self.browser.find_elements("css selector", '#controls [name="commit"]'):  # files need not be of one build
            self.choose("commit", "all, each a line")
        lines = self.js("view.lines.map((line) => line.name)")
        self.assertIn("cub, scan.csv", lines)
        self.assertIn("cub, scan-newest-cub.csv", lines)

    def test_median_and_range(self):
        """Runs of the same configuration: their median, and a band of their range."""
        file = self.write("runs.csv", [{"time_ms": time, "n": n, "date": f"2026-01-0{i + 1}"}
                                       for i, time in enumerate("192") for n in ("1024", "2048")])
        self.open(file, at="#y=time_ms")
        self.assertIn("2 points are medians of several runs", self.one("#notes").text)
        self.hover("a", 0)
        for part in ("time 2 ms", "median of 3 rows", "range 1 ms .. 9 ms"):
            self.assertIn(part, self.tip())
        band = self.js("document.querySelector('.band').getBBox().height")
        self.assertAlmostEqual(band, self.js("chart.scales.y(1) - chart.scales.y(9)"), delta=1)

    def test_band_of_noise(self):
        """One run: its quartiles."""
        file = self.write("noise.csv", [{"n": n, "time_ms": "2", "time_q1_ms": "1.6", "time_q3_ms": "2.5"}
                                        for n in ("1024", "2048")])
        self.open(file)
        self.hover("a", 0)
        self.assertIn("quartiles 6.4 .. 10", self.tip())

    # ---- A against B ----

    def test_two_files(self):
        """The same ratios and changes as compare.sh, undecided up to the same."""
        files = [f"{RESULTS}/{name}.csv" for name in ("scan", "scan-second-h200")]
        self.open(*files)
        self.choose("by", "file")
        self.choose("a", "scan.csv")
        self.choose("b", "scan-second-h200.csv")
        self.assertFalse(self.options("b")["scan.csv"], "a file against itself")
        said = subprocess.run(["scripts/compare.sh", *files], cwd=ROOT, check=True, capture_output=True, text=True)
        wanted = {(algo, n): (float(ratio), float(undecided), change) for algo, n, ratio, undecided, change in
                  re.findall(r"^(\S+) +(\S+) .* cold .* ([0-9.]+) +([0-9.]+) % +(\w+)$", said.stdout, re.M)}
        path = self.saved("csv", "scanbench-changes.csv")
        for row in read(path):
            *numbers, change = wanted[row["algo"], size_text(row["n"])]
            self.assertEqual(change, row["change"], row)
            for name, number, step in zip(("ratio", "undecided_pct"), numbers, (0.001, 0.1)):
                self.assertAlmostEqual(number, float(row[name]), delta=1.1 * step, msg=row)
        self.assertGreater(len(read(path)), 100)
        self.assertIn("Geometric mean of scan-second-h200.csv / scan.csv", self.one("#notes").text)
        ratios = [float(row["ratio"]) for row in read(path)]
        self.assertEqual(sorted(ratios, reverse=True), ratios)

    def test_sides_of_many_files(self):
        """Of all files, A and B are those that share most; what shares nothing with A cannot be B."""
        self.open(RESULTS)
        self.choose("by", "file")
        self.assertGreater(len(self.lines()), 5)
        self.choose("a", "scan.csv")
        self.assertTrue(self.options("b")["scan-second-h200.csv"])
        self.assertFalse(self.options("b")["sort.csv"])

    def test_two_commits(self):
        """A side that has several hosts is left out until one is chosen."""
        rows = [{"commit": commit, "host": host, "n": n, "time_ms": time, "algo": algo}
                for algo in "ab" for n in ("1024", "2048")
                for commit, host, time in (("g1", "h1", "1"), ("g2", "h1", "2"), ("g2", "h2", "3"))]
        self.open(self.write("commits.csv", rows), at="#by=commit&a=g1&b=g2&host=*")
        self.assertIn("4 configurations are left out", self.one("#notes").text)
        self.choose("host", "h1")
        self.assertEqual(["2.000"] * 4, self.column("ratio"))
        self.assertEqual(["slower"] * 4, self.column("change"))
        self.hover("a", 0)
        self.assertIn("ratio 2.000", self.tip())

    def compare(self, old, now, at="#by=file"):
        """Opens a comparison of files of these rows; the ratios, by what the table says of them."""
        self.open(*(self.write(f"{self.id()}-{side}.csv", rows) for side, rows in (("a", old), ("b", now))), at=at)
        return self.ratios()

    def ratios(self):
        return dict(zip(zip(self.column("algo"), self.column("n")), self.column("ratio")))

    def test_two_files_of_two_builds(self):
        """What differs from file to file does not keep them apart."""
        old, now = ([{"algo": algo, "n": n, "time_ms": time, "commit": f"g{time}", "host": f"h{time}", "driver": f"v{time}"}
                     for algo in "ab" for n in ("1000", "3000")] for time in "24")
        wanted = {(algo, n): "2.000" for algo in "ab" for n in ("1000", "3000")}
        for by in ("file", "commit", "host", "driver"):
            self.assertEqual(wanted, self.compare(old, now, at=f"#by={by}"), by)
            self.assertNotIn("left out", self.one("#notes").text, by)
        self.assertEqual(["all", "g2", "g4"], list(self.options("commit")))

    def test_a_filter_of_one_side(self):
        """A filter that a side knows nothing of leaves that side as it is."""
        old = [{"n": n, "time_ms": "1", "host": "h1"} for n in ("1000", "3000")]
        now = [{"n": n, "time_ms": host[1], "host": host} for n, hosts in
               (("1000", ("h2", "h3", "h4")), ("3000", ("h2", "h4"))) for host in hosts]
        self.compare(old, now)
        self.assertEqual(["2.000"] * 2, self.column("ratio"))
        for host in ("h4", "h2"):
            self.choose("host", host)
            self.assertEqual([f"{host[1]}.000"] * 2, self.column("ratio"))
        self.choose("host", "all")
        self.assertEqual([], self.column("ratio"))
        self.assertIn("2 configurations are left out: one side has rows of several", self.one("#notes").text)

    def test_one_side_alone(self):
        """A configuration of which a filter leaves one side is left out, and counted."""
        old = [{"n": n, "time_ms": "1", "commit": "g1"} for n in ("1000", "3000", "5000")]
        now = [{"n": n, "time_ms": "2", "commit": commit} for n, commit in
               (("1000", "g1"), ("3000", "g2"), ("5000", "g1"))]
        self.assertEqual({("a", "1000"): "2.000", ("a", "5000"): "2.000"}, self.compare(old, now))
        self.assertIn("1 configurations are left out: the filters leave one side", self.one("#notes").text)
        self.choose("commit", "all")
        self.assertEqual(["2.000"] * 3, self.column("ratio"))
        self.assertNotIn("left out", self.one("#notes").text)

    def test_rows_without_a_time_or_a_pair(self):
        times = [{"n": "1000"}, {"n": "3000", "time_ms": ""}, {"n": "5000", "time_ms": "0"}]
        self.assertEqual({("a", "1000"): "1.000"}, self.compare(times, times))
        failed = [{"check": "failed", "host": host} for host in ("h1", "h2")]
        self.open(self.write("failed.csv", failed), at="#by=host")
        self.assertEqual({}, self.ratios())
        self.assertIn("No two values of host have a configuration in common", self.one("#notes").text)

    def test_the_empty_value_is_a_side(self):
        """It is compared if it is chosen, and not merely because it is there."""
        rows = [{"gpus": gpus, "n": n, "time_ms": gpus or "8"} for gpus, sizes in
                (("", ("1000",)), ("2", ("1000", "3000", "5000")), ("4", ("3000", "5000"))) for n in sizes]
        lonely = [{"n": "7000", "host": ""}, *({"n": "1000", "host": host, "time_ms": time} for host, time in
                                              (("h1", "1"), ("h2", "3")))]
        file = self.write("gpus.csv", rows)
        self.open(file, at="#by=gpus")
        self.assertEqual({("a", "3000"): "2.000", ("a", "5000"): "2.000"}, self.ratios())
        self.choose("b", "none")
        self.assertEqual({("a", "1000"): "4.000"}, self.ratios())
        self.choose("a", "none")
        self.assertEqual({("a", "1000"): "0.250"}, self.ratios())
        self.open(file, at=self.js("location.hash"))
        self.assertEqual({("a", "1000"): "0.250"}, self.ratios())
        self.open(self.write("lonely.csv", lonely), at="#by=host")
        self.assertEqual({("a", "1000"): "3.000"}, self.ratios())
        self.assertEqual({"none": False, "h1": True, "h2": True}, self.options("a"))

    def test_x_is_not_compared(self):
        """What is compared cannot be the x axis."""
        rows = [{"block": block, "n": n, "time_ms": block} for n in ("1000", "3000") for block in ("64", "128")]
        self.open(self.write("blocks.csv", rows), at="#x=block")
        self.choose("by", "block")
        self.assertEqual({("a", "1000"): "2.000", ("a", "3000"): "2.000"}, self.ratios())
        self.assertFalse(self.options("x")["threads per block"])

    def test_no_comparison_is_empty(self):
        """Each A and B that can be chosen have lines, and numbers."""
        self.open(*(f"{RESULTS}/{name}.csv" for name in ("scan-copies", "library", "python", "processes-newest-cub")))
        views = 0
        for by in self.enabled("by")[1:]:
            self.go(by=by)
            for a in self.enabled("a"):
                self.go(by=by, a=a)
                for b in self.enabled("b"):
                    self.go(by=by, a=a, b=b)
                    self.assertGreater(len(self.lines()), 0, f"{by}: {a}, {b}")
                    self.assertNotIn("NaN", self.js("document.querySelector('main').innerText"))
                    views += 1
        self.assertGreater(views, 10)

    # ---- Filters ----

    def test_filters_start_where_the_rows_are(self):
        self.open(RESULTS)
        for op in ("sort", "compact", "reduce"):
            self.choose("op", op)
            files = glob.glob(os.path.join(ROOT, RESULTS, f"{op}*.csv"))
            wanted = max(map(len, map(read, files)))
            self.assertGreater(self.js("table.rows.length"), wanted / 5, op)
            self.assertGreater(len(self.lines()), 5, op)

    def test_no_choice_leaves_nothing(self):
        """Each choice that can be made leaves lines, and some cannot be made."""
        self.open(f"{RESULTS}/sort.csv", f"{RESULTS}/four-gpus.csv", f"{RESULTS}/compact-host-cpu.csv")
        disabled = 0
        for name in self.js("view.filters.filter((filter) => filter.choices.size > 1).map((filter) => filter.name)"):
            for text in self.options(name):
                if self.options(name).get(text):
                    self.choose(name, text)
                    self.assertGreater(len(self.lines()), 0, f"{name}={text}")
                else:
                    disabled += 1
        self.assertGreater(disabled, 0)

    def test_algorithms_and_axes(self):
        self.open(f"{RESULTS}/scan.csv", f"{RESULTS}/scan-block.csv", f"{RESULTS}/compact.csv")
        before = self.lines()
        self.one('#picks [data-algorithm="naive"]').click()
        self.assertEqual(set(before) - {"naive"}, set(self.lines()))
        self.assertEqual("false", self.one('#picks [data-algorithm="naive"]').get_attribute("aria-pressed"))
        self.choose("y", "speedup")
        self.choose("base", "thrust")
        self.assertEqual("times as fast as thrust", self.one(".y-title").text)
        self.assertTrue(self.js("view.lines.find((l) => l.name === 'thrust').points.every((p) => p.y === 1)"))
        self.choose("x", "threads per block")
        self.assertEqual([32, 64, 128, 256, 512, 1024], self.xs("warp-shuffle"))
        self.choose("x", "elements n")
        self.choose("op", "compact")
        self.choose("keep", "0.5")
        self.assertEqual({"0.5"}, self.cells("keep"))
        self.one("#picks .all").click()
        self.one("#picks .all").click()
        self.assertIn("No row that passed", self.one("#notes").text)
        self.assertFalse(self.visible("#chart"))

    def test_several_gpus(self):
        """Numbers of GPUs are an axis, and what was measured of their exchange can be drawn."""
        self.open(f"{RESULTS}/four-gpus.csv", at="#engine=*")
        self.choose("gpus", "2")
        self.choose("y", "exchange ms")
        self.assertEqual("exchange ms", self.one(".y-title").text)
        self.assertEqual({"2"}, self.cells("gpus"))
        self.choose("gpus", "all, each a line")
        self.choose("y", "GB/s")
        self.assertGreater(len({name for name in self.lines() if "gpus 1" in name}), 0, self.lines())
        self.assertGreater(len({name for name in self.lines() if "gpus 2" in name}), 0, self.lines())

    def test_cards_have_lines_of_their_own(self):
        files = [self.write(f"{card}.csv", [{"device_name": card, "host": card, "gb_s": gb_s, "n": n}
                                            for n in ("1024", "4096")]) for card, gb_s in (("north", "1"), ("south", "2"))]
        self.open(*files, at="#device_name=*&file=*&host=*")
        self.assertEqual(["a, north", "a, south"], sorted(self.lines()))
        self.choose("device_name", "south")
        self.assertEqual(["a"], self.lines())

    # ---- Back ----

    def test_back(self):
        """Back undoes a choice; an address opened anew shows the same."""
        self.open(f"{RESULTS}/scan.csv", f"{RESULTS}/compact.csv")
        self.choose("op", "compact")
        self.choose("keep", "0.5")
        self.one('#picks [data-algorithm="cub"]').click()
        self.one('th [data-column="time_ms"]').click()
        address, lines, times = self.browser.current_url, self.lines(), self.column("time_ms")
        self.assertNotIn("cub", lines)
        self.browser.back()
        self.browser.back()
        self.assertIn("cub", self.lines())
        self.assertIn("keep=0.5", self.one("#constant").text)
        self.browser.back()
        self.assertIn("keep=0.75", self.one("#constant").text)
        self.browser.back()
        self.assertIn("op=scan", self.one("#constant").text)
        for _ in range(4):
            self.browser.forward()
        self.assertEqual((lines, times), (self.lines(), self.column("time_ms")))
        self.browser.get("about:blank")
        self.browser.get(address)
        self.assertEqual((lines, times), (self.lines(), self.column("time_ms")))

    # ---- The table ----

    def test_table(self):
        failed = {"algo": "c", "n": "64", "time_ms": "", "check": "failed", "reason": "got 1, wanted 2"}
        file = self.write("table.csv", [{"algo": "b", "n": "32", "time_ms": "2"}, {"n": "64", "time_ms": "10"}, failed])
        self.open(file)
        head = 'th [data-column="time_ms"]'
        self.one(head).click()
        self.assertEqual(["2", "10", ""], self.column("time_ms"))
        self.one(head).click()
        self.assertEqual(["10", "2", ""], self.column("time_ms"))
        self.assertEqual("descending", self.one("th:has([data-column=time_ms])").get_attribute("aria-sort"))
        self.one("#find").send_keys("wanted")
        self.assertEqual((["c"], ["got 1, wanted 2"]), (self.column("algo"), self.column("reason")))
        self.assertEqual("bad", self.one("tbody tr").get_attribute("class"))
        self.assertEqual(["a", "b"], sorted(self.lines()))
        self.one("#table-head summary").click()
        self.one("#columns label").click()
        self.assertEqual([], self.browser.find_elements("css selector", 'th [data-column="op"]'))

    # ---- Export ----

    def test_rows_as_csv(self):
        """The rows shown, with all columns, as they are in the file."""
        self.open(f"{RESULTS}/scan.csv")
        self.one("#find").send_keys("brent")
        rows = read(self.saved("csv", "scanbench-scan-gb_s.csv"))
        self.assertEqual(cold_rows(algo="brent-kung-smem"), rows)

    def test_picture(self):
        """A file of its own, on white, that says what it shows."""
        from matplotlib.image import imread
        self.open(f"{RESULTS}/scan.csv")
        path = self.saved("svg", "scanbench-scan-gb_s.svg")
        svg = xml.etree.ElementTree.parse(path).getroot()
        texts = ["".join(text.itertext()) for text in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue(any("op=scan" in text for text in texts), texts)
        self.assertLess(0, len([text for text in texts if text.startswith("lookahead")]))
        # The PNG comes from the SVG, later.
        pixels = imread(self.saved("png", "scanbench-scan-gb_s.png"))
        self.assertEqual((2000, [1, 1, 1]), (pixels.shape[1], list(pixels[5, 5, :3])))
        self.assertGreater(len({tuple(pixel) for pixel in pixels[::4, ::4, :3].reshape(-1, 3).round(1)}), 5)

    # ---- Narrow and wide ----

    def labels(self):
        """[(left, top, right, bottom)] of the labels, and the right end of the lines."""
        boxes = """[...document.querySelectorAll(arguments[0])].map((element) => {
            const box = element.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })"""
        return self.js(boxes, ".labels text"), max(box[2] for box in self.js(boxes, ".line, .band, .mark"))

    def test_labels(self):
        """At each width: beside the lines, inside the window, not on each other."""
        for size in (WIDE, NARROW):
            self.open(f"{RESULTS}/scan.csv", size=size)
            boxes, end = self.labels()
            self.assertGreater(len(boxes), 10)
            self.assertGreater(min(box[0] for box in boxes), end)
            self.assertLessEqual(max(box[2] for box in boxes), size[0])
            boxes.sort(key=lambda box: box[1])
            for upper, lower in itertools.pairwise(boxes):
                self.assertGreater((lower[1] + lower[3]) / 2 - (upper[1] + upper[3]) / 2, 12)
            self.assertLessEqual(self.js("document.documentElement.scrollWidth"), size[0], "nothing is cut off")

    def test_narrow(self):
        """Folded controls, opened and used by keys alone."""
        from selenium.webdriver.common.keys import Keys
        self.open(f"{RESULTS}/scan.csv", size=NARROW)
        self.assertFalse(self.visible('[name="cache"]'))
        for _ in range(10):
            self.press(Keys.TAB)
            if self.js("document.activeElement.tagName") == "SUMMARY":
                break
        self.press(Keys.ENTER)
        self.assertTrue(self.visible('[name="cache"]'))
        for _ in range(20):
            self.press(Keys.TAB)
            if self.js("document.activeElement.name") == "cache":
                break
        self.press(Keys.ARROW_DOWN)
        self.assertIn("cache=hot", self.one("#constant").text)
        self.assertEqual("cache", self.js("document.activeElement.name"), "the focus stays")

    # ---- Keys and screen reader ----

    def test_chart_by_keys(self):
        from selenium.webdriver.common.keys import Keys
        self.open(f"{RESULTS}/scan.csv", at="#y=time_ms")
        self.js("document.getElementById('chart').focus()")
        self.press(Keys.ARROW_RIGHT)
        first = self.one("#spoken").get_attribute("textContent")
        self.press(Keys.HOME)
        home = self.one("#spoken").get_attribute("textContent")
        name = home.split(",")[0]
        (row,) = cold_rows(algo=name, n=self.js("String(chart.at.point.x)"))
        self.assertIn(microseconds(row), home)
        self.assertNotEqual(first, home)
        self.press(Keys.ARROW_DOWN)
        self.assertNotEqual(name, self.one("#spoken").get_attribute("textContent").split(",")[0])
        self.assertTrue(self.visible("#tip"))
        self.press(Keys.ESCAPE)
        self.assertFalse(self.visible("#tip"))

    def test_names_for_a_screen_reader(self):
        self.open(f"{RESULTS}/scan.csv")
        nodes = self.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
        roles = ("button", "combobox", "checkbox", "searchbox", "region", "group", "form")
        acting = [node for node in named if node[0] in roles]
        self.assertGreater(len(acting), 30)
        self.assertEqual([], [role for role, name in acting if not name and role != "group"])
        self.assertIn(("group", f"GB/s against elements n, {len(self.lines())} lines"), acting)

    def test_hover(self):
        self.open(f"{RESULTS}/scan.csv")
        self.hover("cub", self.xs("cub").index(2**26))
        (row,) = cold_rows(algo="cub", n=str(2**26))
        for part in ("cub", "2^26 = 67108864", microseconds(row), row["date"]):
            self.assertIn(part, self.tip())

    # ---- Hostile rows ----

    def test_no_text_is_run(self):
        """Whatever a file says and a mouse does, no script of it is run."""
        names = ["<img src=x onerror=hurt(1)>", '"><script>hurt(2)</script>', "</script><script>hurt(3)</script>",
                 "<svg onload=hurt(4)>", "'-hurt(5)-'", "{a|rich}", "a,b%2c", 'q"]\\', "two\nlines", "__proto__",
                 "constructor", "toString", "hasOwnProperty", "valueOf", "*", "\\u003c @DATA@ @SCRIPT@"]
        text = "<img src=x onerror=hurt(6)>"
        columns = ("op", "type", "kind", "cache", "device", "device_name", "label", "commit", "driver", text, "x", "file",
                   "__proto__", "constructor")
        rows = [{**dict.fromkeys(columns, text), "algo": name, "n": n, "block": block,
                 "time_ms": "2", "reason": name, "host": host}
                for name in names for n in ("1024", "4096") for host, block in ((text, "64"), ("__proto__", "128"))]
        self.open(self.write("hostile.csv", rows), at="#x=constructor&__proto__=1&toString=2&host=*&hide=none")
        self.js("window.hurt = (what) => { document.documentElement.dataset.hurt = what; }")
        self.assertEqual(len(names) * 2, len(self.lines()))
        for line in self.lines():
            self.hover(line)
            self.assertIn("2^12 = 4096", self.tip())
        for name in self.js("[...document.querySelectorAll('#controls select')].map((list) => list.name)"):
            for choice in self.options(name):
                if self.options(name).get(choice):
                    self.choose(name, choice)
        for button in self.browser.find_elements("css selector", "#picks button, th button"):
            button.click()
        for box in self.js("[...document.querySelectorAll('#columns input')]"):
            self.js("arguments[0].click()", box)
        self.one("#find").send_keys(text)
        self.browser.back()
        self.assertIsNone(self.one("html").get_attribute("data-hurt"))
        # It would have been noticed.
        self.js("document.getElementById('notes').innerHTML = '<img src=x onerror=hurt(8)>'")
        time.sleep(0.2)
        self.assertEqual("8", self.one("html").get_attribute("data-hurt"))
        self.browser.get_log("browser")  # of the missing picture


if __name__ == "__main__":
    sys.exit(browser_testing.run_tests(PageTest))
