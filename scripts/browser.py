"""browser.py: Chromium by Selenium, for the pictures of the page and for its tests."""
import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars")


def find_browser():
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def missing():
    """The name of what is not there, or None."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium"
    return None if find_browser() and shutil.which("chromedriver") else "chromium-driver"


def start_browser():
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    options.binary_location = find_browser()
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    return webdriver.Chrome(service=service, options=options)


def resize(browser, width, height):
    """Also to widths that no window may have."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
