"""figures.py: draws the figures for figures.sh, whose head describes them."""
import os
import subprocess
import sys
import tempfile

from browser import missing, start_browser

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TEXTBOOK = ("--algo=./examples/textbook.cu", "--n=16", "--max=9")
TREES = ("--algo=efficient-smem,efficient-smem-padded", "--n=256", "--block=128")
# Each figure has its runs, and what is drawn in the page's own terms. Steps are counted from 0.
FIGURES = {
    "steps-naive": (TEXTBOOK, "stepsOf(runs[0], null, 'Hillis and Steele: textbook-naive, n = 16')"),
    "steps-efficient": (TEXTBOOK, "stepsOf(runs[1], null, 'Blelloch: textbook-efficient, n = 16')"),
    "banks-dense": (TREES, "drawBanks(runs[0], worstOf(runs[0], 2))"),
    "banks-padded": (TREES, "drawBanks(runs[1], worstOf(runs[1], 2))"),
    "steps-stitch": (("--algo=efficient-stitch", "--n=512", "--block=32"),
                     "stepsOf(runs[0], 7, 'efficient-stitch: the last of 8 blocks sums all totals before its own', "
                     "({launch, index}) => launch === 1 && index < 2)"),
    "steps-lookback": (("--algo=lookback", "--n=1024", "--block=32"),
                       "stepsOf(onlyStatuses(runs[0]), 0, 'lookback: tile 3 looks back over the statuses of tiles 2, 1 and 0', "
                       "({index}) => index === 4 || index === 5)"),
}
HELPERS = """
const stepsOf = (run, block, title, isDrawn = () => true) =>
  drawSteps(run, run.steps.flatMap((step, s) => isDrawn(step) ? [s] : []), block, title);
/* Step 5 is drawn without the sum of the tile, and step 6 without what its lanes give to the next collective. */
const onlyStatuses = (run) => ({...run, steps: run.steps.map((step) => ({...step, requests: step.requests.filter(
  ({array, kind}) => run.arrays[array].from > 0 && run.arrays[array].type === "tagged" ||
    kind === (step.index === 4 ? "give" : "reduce"))}))});
const worstOf = (run, s) => run.steps[s].requests.toSorted((a, b) => conflictsOf(run, b) - conflictsOf(run, a))[0];
return """


def draw(browser, program, folder):
    with tempfile.TemporaryDirectory() as pages:
        built = {}
        for name, (flags, drawing) in FIGURES.items():
            if flags not in built:
                built[flags] = os.path.join(pages, f"{len(built)}.html")
                subprocess.run([program, f"--trace={built[flags]}", "--samples=1", "--quiet", *flags], cwd=ROOT,
                               check=True, stdout=subprocess.DEVNULL)
            browser.get(f"file://{built[flags]}")
            with open(os.path.join(folder, f"{name}.svg"), "w", encoding="utf-8") as file:
                file.write(browser.execute_script(HELPERS + drawing) + "\n")


def main(arguments):
    folder = os.path.join(ROOT, "docs/pictures")
    for argument in arguments:
        flag, _, value = argument.partition("=")
        if flag != "--output" or not value:
            print(f"figures.sh: {argument}: it must be --output=FOLDER", file=sys.stderr)
            return 2
        folder = value
    if missing():
        print(f"figures.sh: {missing()} is missing; on Debian and Ubuntu: sh scripts/install-deps.sh pictures",
              file=sys.stderr)
        return 1
    os.makedirs(folder, exist_ok=True)
    browser = start_browser()
    try:
        draw(browser, os.path.abspath(os.environ.get("SCANBENCH", os.path.join(ROOT, "scanbench"))), folder)
    except subprocess.CalledProcessError as error:
        print(f"figures.sh: {' '.join(error.cmd)}: exit {error.returncode}", file=sys.stderr)
        return 1
    finally:
        browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
