"""pictures.py: makes the pictures for pictures.sh, whose head describes them."""
import html
import io
import os
import re
import subprocess
import sys
import tempfile
import time

from PIL import Image

from browser import missing, resize, start_browser

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../docs/pictures")
TABLE = "./scanbench --device=cpu --algo=serial,simd,std,memcpy --n=2^16,2^20"
COLUMNS, LINES = 80, 24
# The colours of the program, on white.
COLOURS = {"31": "#cf222e", "32": "#116329", "33": "#9a6700", "90": "#6e7781"}
TMUX = ["tmux", "-L", "scanbench-pictures"]


def terminal_text(command):
    """What a terminal shows once the command has ended, with its colours."""
    done = "END-OF-COMMAND"
    tmux = lambda *words: subprocess.run([*TMUX, *words], check=True, capture_output=True, text=True).stdout
    script = f"clear; printf '$ %s\\n' '{command}'; {command}; printf '%s' {done}; sleep 60"
    tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), script)
    try:
        while done not in tmux("capture-pane", "-p"):
            time.sleep(0.2)
        return tmux("capture-pane", "-e", "-p").split(done)[0].rstrip()
    finally:
        tmux("kill-server")


# What the codes of a terminal set; `0` unsets all.
STYLES = {"1": {"font-weight": "bold"}, "39": {"color": "inherit"}, **{code: {"color": colour} for code, colour in COLOURS.items()}}


def page_of(text):
    """Terminal text as HTML."""
    body, style = "", {}
    for codes, part in re.findall(r"(\x1b\[[0-9;]*m)?([^\x1b]*)", text):
        for code in re.findall(r"\d+", codes):
            style = {} if code == "0" else {**style, **STYLES.get(code, {})}
        body += f'<span style="{";".join(map(":".join, style.items()))}">{html.escape(part)}</span>'
    return ('<meta charset="utf-8"><body style="margin:0;background:#fff"><pre style="display:inline-block;margin:0;padding:12px 16px;'
            f'color:#1f2328;font:14px/1.35 monospace">{body}</pre>')


def save(picture, name):
    """As PNG with a palette, which takes a third of the bytes."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(
        os.path.join(FOLDER, f"{name}.png"), optimize=True)


def draw_table(browser, folder):
    page = os.path.join(folder, "table.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write(page_of(terminal_text(TABLE)))
    resize(browser, 1000, 800)
    browser.get(f"file://{page}")
    save(browser.find_element("css selector", "pre").screenshot_as_png, "table")


def draw_page(browser, folder):
    page = os.path.join(folder, "page.html")
    subprocess.run([os.path.join(HERE, "report.sh"), f"--output={page}", os.path.join(HERE, "../results/nvidia-h200")], check=True)
    for name, width, height in (("page", 1280, 960), ("page-narrow", 400, 800)):
        resize(browser, width, height)
        browser.get("about:blank")
        browser.get(f"file://{page}")
        save(browser.get_screenshot_as_png(), name)


def main():
    if missing():
        print(f"pictures.sh: {missing()} is missing; on Debian and Ubuntu: sh scripts/install-deps.sh pictures", file=sys.stderr)
        return 1
    os.makedirs(FOLDER, exist_ok=True)
    browser = start_browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            draw_page(browser, folder)
            draw_table(browser, folder)
    finally:
        browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
