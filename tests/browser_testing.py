"""browser_testing.py: what tests of pages in a browser share. scripts/ must be in sys.path."""
import os
import shutil
import tempfile
import time
import unittest

import browser


class BrowserTest(unittest.TestCase):
    """The tests of a class share one browser, and a folder where it saves files."""

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp()
        cls.browser = browser.start_browser()
        cls.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": cls.work})

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        shutil.rmtree(cls.work)

    def tearDown(self):
        self.assertEqual([], [entry["message"] for entry in self.browser.get_log("browser")], "errors in the page")


def quick(test):
    """Marks a test for `make test` as well: no other one would find most of the same errors."""
    test.quick = True
    return test


class Tap(unittest.TestResult):
    """Prints each test as it ends."""

    def startTest(self, test):
        super().startTest(test)
        self.start = time.monotonic()

    def say(self, word, test, note=""):
        note = f" ({time.monotonic() - self.start:.1f} s)"
        print(f"{word} {self.testsRun} - {test.id().split('test_', 1)[-1].replace('_', ' ')}{note}", flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say("not ok", test)
        print(self.failures[-1][1], flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        self.say("not ok", test)
        print(self.errors[-1][1], flush=True)


def run_tests(case):
    """Runs the tests of the class, and returns the exit code."""
    if browser.missing():
        print(f"1..1\nok 1 - the page in a browser # SKIP no {browser.missing()} here")
        return 0
    words = [word for word in os.environ.get("PAGE_TESTS", "").split(",") if word]
    names = [name for name in unittest.defaultTestLoader.getTestCaseNames(case)
             if not words or any(word in name for word in words)]
    if not words and not os.environ.get("LONG"):
        # make test-long runs all.
        names = [name for i, name in enumerate(names) if i % 3 == 0 or hasattr(getattr(case, name), "quick")]
    print(f"1..{len(names)}", flush=True)
    result = Tap()
    unittest.TestSuite(map(case, names)).run(result)
    return 0 if result.wasSuccessful() and result.testsRun == len(names) else 1
