"""noise.py: by what two runs of one program may differ, for compare.py and the report page."""
import os
import re
from statistics import NormalDist

# At 99.5 %, of 200 configurations that did not change one is expected to be called changed.
CONFIDENCE = 0.995
# Noises in rows are those of 95 % intervals.
WIDER = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) / NormalDist().inv_cdf(0.975)
# A change that is certainly smaller is none.
SAME = 0.005
ROWS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../bench/rows")
# What --baseline allows for the difference between two runs.
with open(os.path.join(ROWS, "baseline.h"), encoding="ascii") as header:
    ALLOWED = dict(re.findall(r"\b(RUN_TO_RUN_PCT|RUN_TO_RUN_MS) ([0-9.]+)", header.read()))
RUN_TO_RUN = float(ALLOWED["RUN_TO_RUN_PCT"]) / 100
RUN_TO_RUN_MS = float(ALLOWED["RUN_TO_RUN_MS"])
# [(kind of device, n, fraction)], in ascending n: what one run on a side may differ by.
with open(os.path.join(ROWS, "one_run.def"), encoding="ascii") as table:
    ONE_RUN = [(kind, int(n), float(pct) / 100)
               for kind, n, pct in re.findall(r"^ONE_RUN\((\w+), (\d+), ([0-9.]+)\)", table.read(), re.MULTILINE)]


def one_run_differs(device, n):
    """By which fraction processes differ, as find_one_run_pct of bench/rows/baseline.c."""
    own = [(size, fraction) for kind, size, fraction in ONE_RUN if device.startswith(kind)]
    if not own:
        return max(fraction for _, _, fraction in ONE_RUN)
    return next((fraction for size, fraction in reversed(own) if size <= n), own[0][1])
