"""arrays: the Python package on numpy arrays or, with --gpu, on CuPy arrays.

    make library && pip install python/
    SCANBENCH_LIBRARY=build/libscanbench.so python3 examples/arrays.py [--gpu]
"""
import sys

import scanbench

if "--gpu" in sys.argv:
    import cupy as numpy
else:
    import numpy

prices = numpy.array([[3, 5, 4, 8, 6], [9, 7, 7, 2, 4]], dtype="float32")
print("highest so far", [scanbench.cummax(row).tolist() for row in prices])
print("sums of rows  ", scanbench.cumsum(prices).tolist())
print("ranking       ", scanbench.argsort(prices[0]).tolist())
# The moving average h[i] = h[i - 1] / 2 + x[i] / 2 is a recurrence.
print("average       ", scanbench.linear_recurrence(numpy.full_like(prices[0], 0.5), prices[0] / 2).tolist())
print("not 7         ", (scanbench.compress(prices - 7) + 7).tolist())
