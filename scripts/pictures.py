"""pictures.py: makes the pictures for pictures.sh, whose head describes them."""
import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

from PIL import Image

from browser import missing, resize, start_browser
from transcripts import (PICTURES, ROOT, Failed, commit_of, folder_with, pages_with_transcripts, read, refusal,
                         retaken, steady, terminal, write_record)

HERE = os.path.join(ROOT, "scripts")
RESULTS = os.path.join(ROOT, "results/nvidia-h200")
TABLE = "./scanbench --device=cpu --algo=serial,simd,memcpy --n=2^16,2^20 --max-noise=2"
WAIT_S = 180  # for the load of a build to fall
# The colours of the program, on white.
COLOURS = {"31": "#cf222e", "32": "#116329", "33": "#9a6700", "90": "#6e7781"}


# What the codes of a terminal set; `0` unsets all.
STYLES = {"1": {"font-weight": "bold"}, "39": {"color": "inherit"},
          **{code: {"color": colour} for code, colour in COLOURS.items()}}
PAGE = """<meta charset="utf-8"><style>
body { margin: 0; background: #fff; }
pre { display: inline-block; margin: 0; padding: 12px 16px; color: #1f2328; font: 14px/1.35 monospace; }
</style><pre>@TEXT@</pre>"""


def page_of(text):
    """Terminal text as HTML."""
    body, style = "", {}
    for codes, part in re.findall(r"(\x1b\[[0-9;]*m)?([^\x1b]*)", text):
        for code in re.findall(r"\d+", codes):
            style = {} if code == "0" else {**style, **STYLES.get(code, {})}
        body += f'<span style="{";".join(map(":".join, style.items()))}">{html.escape(part)}</span>'
    return PAGE.replace("@TEXT@", body)


def save(picture, path):
    """As PNG with a palette, which takes a third of the bytes."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def draw_table(browser, coloured, folder):
    page = os.path.join(folder, "table.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write(page_of(f"$ {TABLE}\n{coloured}".rstrip()))
    resize(browser, 1000, 800)
    browser.get(f"file://{page}")
    save(browser.find_element("css selector", "pre").screenshot_as_png, os.path.join(folder, "table.png"))


def draw_page(browser, folder):
    page = os.path.join(folder, "page.html")
    subprocess.run([os.path.join(HERE, "report.sh"), f"--output={page}", RESULTS], check=True)
    for name, width, height in (("page", 1280, 960), ("page-narrow", 400, 800)):
        resize(browser, width, height)
        browser.get("about:blank")
        browser.get(f"file://{page}")
        save(browser.get_screenshot_as_png(), os.path.join(folder, f"{name}.png"))


def draw_chart(folder):
    subprocess.run([os.path.join(HERE, "plot.sh"), "--only=scan-bandwidth", f"--output={folder}/plot",
                    os.path.join(RESULTS, "scan.csv")], check=True)
    with open(os.path.join(folder, "plot", "scan-bandwidth.png"), "rb") as file:
        save(file.read(), os.path.join(folder, "chart.png"))


def draw(table, folder):
    """All pictures, as PNG in the folder."""
    browser = start_browser()
    try:
        draw_table(browser, table, folder)
        draw_page(browser, folder)
        draw_chart(folder)
    finally:
        browser.quit()


def take(program, anyway, into, commit):
    """Takes everything before it writes the first file."""
    pages = {page: retaken(read(os.path.join(ROOT, page)), program, anyway) for page in pages_with_transcripts(ROOT)}
    with folder_with(program) as folder:
        _, table, _ = steady(lambda: terminal(TABLE, folder), TABLE, anyway)
    with tempfile.TemporaryDirectory() as folder:
        draw(table, folder)
        os.makedirs(os.path.join(into, PICTURES), exist_ok=True)
        for picture in (name for name in os.listdir(folder) if name.endswith(".png")):
            shutil.copy(os.path.join(folder, picture), os.path.join(into, PICTURES, picture))
    for page, text in pages.items():
        path = os.path.join(into, page)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    write_record(into, commit)


def complain(text, code):
    print(f"pictures.sh: {text}", file=sys.stderr)
    return code


def main(arguments):
    anyway, wait_s = None, WAIT_S
    for argument in arguments:
        flag, _, value = argument.partition("=")
        if flag == "--anyway" and value:
            anyway = os.path.abspath(value)
        elif flag == "--wait" and value.isdigit():
            wait_s = int(value)
        else:
            return complain(f"{argument}: it must be --anyway=FOLDER or --wait=SECONDS", 2)
    program = os.path.abspath(os.environ.get("SCANBENCH", os.path.join(ROOT, "scanbench")))
    if anyway and os.path.exists(anyway) and os.path.samefile(anyway, ROOT):
        return complain(f"--anyway={anyway}: that is the repository; name another folder", 2)
    commit = commit_of(program)
    reason = None if anyway else refusal(commit, wait_s)
    if reason:
        return complain(f"{reason} (--anyway=FOLDER tries it out)", 1)
    if missing():
        return complain(f"{missing()} is missing; on Debian and Ubuntu: sh scripts/install-deps.sh pictures", 1)
    try:
        take(program, anyway, anyway or ROOT, "anyway" if anyway else commit)
    except Failed as why:
        return complain(str(why), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
