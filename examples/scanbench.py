"""scanbench: the library through ctypes, for numpy arrays on the CPU and CuPy arrays on a GPU.

    handle = Handle()                 # the CPU; Handle(gpu=0) for a GPU
    handle.inclusive_sum(array)       # arrays in, new arrays out; out=array for in place
    handle.sort_pairs(keys, values)   # two arrays in, two arrays out

A wrong argument is a TypeError or a ValueError that says what would be right, and leaves every
array as it is. In a child of fork(), as of multiprocessing, calls on the CPU work on one thread.

As a program it tries all of that:  python3 scanbench.py [--gpu]
SCANBENCH_LIBRARY names the library, if the system would not find it.
"""
import ctypes
import os
import sys

import numpy

# By dtype, not by its name: those of the other byte order have the same names.
NAMES = "int32", "uint32", "int64", "uint64", "float32", "float64", "uint8"
TYPES = {numpy.dtype(name): number for number, name in enumerate(NAMES)}

P, U64, STATUS = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
library = ctypes.CDLL(os.environ.get("SCANBENCH_LIBRARY", "libscanbench.so.0"))
library.scanbench_status_text.restype = ctypes.c_char_p
library.scanbench_error.restype = ctypes.c_char_p
library.scanbench_error.argtypes = [P]
library.scanbench_destroy.argtypes = [P]
library.scanbench_destroy.restype = None
library.scanbench_create_cpu.argtypes = [ctypes.POINTER(P), ctypes.c_uint]
library.scanbench_create_gpu.argtypes = [ctypes.POINTER(P), ctypes.c_int]
for name in "exclusive_sum", "inclusive_sum", "sort_keys":
    getattr(library, "scanbench_" + name).argtypes = [P, ctypes.c_int, P, P, U64, P]
library.scanbench_compact_nonzero.argtypes = [P, ctypes.c_int, P, P, P, U64, P]
library.scanbench_sort_pairs.argtypes = [P, ctypes.c_int, P, P, ctypes.c_size_t, P, P, U64, P]


class Error(Exception):
    """What is not an argument's fault; the library's other statuses are exceptions of Python."""


# SCANBENCH_ERROR_TYPE, _SIZE, _ALIGNMENT, _OVERLAP, _MEMORY and _THREADS.
EXCEPTIONS = {2: TypeError, 3: ValueError, 4: ValueError, 5: ValueError, 9: MemoryError, 13: ValueError}


def named(dtype):
    return dtype.name if dtype.isnative else f"{dtype.name} in the other byte order ({dtype.str})"


class Handle:
    """Owns scratch memory; for one call at a time."""

    def __init__(self, gpu=None, threads=0):
        self.handle, self.gpu = P(), gpu
        if gpu is None:
            self.check(library.scanbench_create_cpu(self.handle, threads))
        else:
            self.check(library.scanbench_create_gpu(self.handle, gpu))

    def __del__(self):
        library.scanbench_destroy(self.handle)

    def check(self, status):
        if status != 0:
            text = library.scanbench_error(self.handle) or library.scanbench_status_text(status)
            raise EXCEPTIONS.get(status, Error)(text.decode())

    def exclusive_sum(self, array, out=None):
        return self._call("exclusive_sum", array, out)

    def inclusive_sum(self, array, out=None):
        return self._call("inclusive_sum", array, out)

    def sort(self, array, out=None):
        return self._call("sort_keys", array, out)

    def sort_pairs(self, keys, values, out=None, out_values=None):
        """The keys in order, and their values, which have 4 or 8 bytes and any type but object."""
        self._check("keys", keys)
        self._check("values", values)
        if values.size != keys.size:
            raise ValueError(f"{values.size} values for {keys.size} keys: there must be one for each")
        if values.dtype.hasobject:
            raise TypeError(f"values of {values.dtype}: references to objects cannot be moved")
        if values.itemsize not in (4, 8):
            raise TypeError(f"values of {values.itemsize} bytes: they must have 4 or 8")
        out_values = self._output("out_values", values, out_values)
        out = self._call("sort_pairs", keys, out, values.itemsize, self._address(values),
                         self._address(out_values))
        return out, out_values

    def nonzero(self, array, out=None):
        """The elements that are not 0; on a GPU this waits for their number."""
        count = U64()
        return self._call("compact_nonzero", array, out, ctypes.byref(count))[: count.value]

    def _call(self, name, array, out, *more):
        self._check("the input", array)
        number = self._type(array)
        out = self._output("out", array, out)
        self.check(getattr(library, "scanbench_" + name)(
            self.handle, number, self._address(array), self._address(out), *more, array.size,
            self._stream()))
        return out

    def _check(self, name, array):
        module = self._module()
        if not isinstance(array, module.ndarray) or isinstance(array, numpy.ma.MaskedArray):
            raise TypeError(f"{name} is a {type(array).__name__}: it must be an array of {module.__name__}")
        if array.ndim != 1 or not array.flags.c_contiguous:
            raise ValueError(f"{name} has shape {array.shape} and strides {array.strides}: it must have one "
                             "dimension, without gaps")

    def _output(self, name, array, out):
        out = self._module().empty_like(array) if out is None else out
        self._check(name, out)
        if out.dtype != array.dtype:
            raise TypeError(f"{name} has elements of {named(out.dtype)}: they must be of {named(array.dtype)}, "
                            "like the input's")
        if out.size != array.size:
            raise ValueError(f"{name} has {out.size} elements: it must have {array.size}, like the input")
        if self.gpu is None and not out.flags.writeable:
            raise ValueError(f"{name} is read-only: it must be writeable")
        return out

    def _type(self, array):
        if array.dtype not in TYPES:
            raise TypeError(f"no arrays of {named(array.dtype)}: elements must be one of {', '.join(NAMES)}, "
                            "in this machine's byte order")
        return TYPES[array.dtype]

    def _address(self, array):
        return array.ctypes.data if self.gpu is None else array.data.ptr

    def _module(self):
        if self.gpu is None:
            return numpy
        import cupy

        return cupy

    def _stream(self):
        return None if self.gpu is None else self._module().cuda.get_current_stream().ptr


def main():
    handle = Handle(gpu=0 if "--gpu" in sys.argv else None)
    kind = handle._module()
    array = kind.arange(1_000_003, dtype="int32") * 7919 % 1000
    assert (handle.inclusive_sum(array) == kind.cumsum(array, dtype="int32")).all()
    assert (handle.exclusive_sum(array)[1:] == kind.cumsum(array, dtype="int32")[:-1]).all()
    assert (handle.nonzero(array) == array[array != 0]).all()
    assert (handle.sort(array) == kind.sort(array)).all()
    keys, places = handle.sort_pairs(array, kind.arange(array.size, dtype="int64"))
    assert (keys == kind.sort(array)).all()
    assert (places == kind.argsort(array, kind="stable")).all()
    # Any slice without gaps, and in place.
    part = array[1:].astype("float64")[3:]
    expected = kind.cumsum(part)
    assert (handle.inclusive_sum(part, out=part) == expected).all()
    try:
        handle.sort(array.astype("int16"))
    except TypeError as error:
        print("as it should be:", error)
    print("n =", array.size, "on", "the CPU" if handle.gpu is None else "the GPU", "- all correct")


if __name__ == "__main__":
    main()
