"""scanbench: scans, linear recurrences, compaction and sort by libscanbench.

Arrays are those of numpy, CuPy or PyTorch, on the CPU or on a GPU; the result is of the same module, type and
device. On a GPU the work is enqueued in the module's current stream.

    scanbench.cumsum(x)                 # along the last axis
    scanbench.cummax(x, axis=0)
    scanbench.linear_recurrence(a, b)   # h[i] = a[i] * h[i - 1] + b[i]
    scanbench.sort(x, out=x)
    x[scanbench.argsort(x)]
    scanbench.compress(x)               # x[x != 0]

Elements are int32, uint32, int64, uint64, float32 or float64 and, except in argsort, uint8, int8, int16, uint16
or float16; linear_recurrence does not take float16. Sums have the type of the elements, and
those of integers wrap. The library works on contiguous arrays along their last axis. Where `axis`
is another one, or an array has gaps, it works on a copy.

A wrong argument is a TypeError or a ValueError that says what would be right, and leaves every array as it is.
What the library does not have on an array's device, such as maxima of rows on a GPU, is a NotImplementedError.

Each thread has a handle, which owns scratch memory, for each device and stream; Handle is one of your own. A
child of fork(), as of multiprocessing, starts threads of its own.
"""
import ctypes
import operator
import threading

from ._arrays import KEY_TYPES, TYPES, plain, kind_of, named
from ._library import Error, P, U64, check, load

__version__ = "1.0.0"
__all__ = ["Error", "Handle", "argsort", "compress", "cummax", "cummin", "cumsum", "linear_recurrence", "sort"]

SUM, MAX, MIN = range(3)  # SCANBENCH_OPERATOR_SUM and so on


class Handle:
    """Owns scratch memory, of the CPU or of a GPU by its index; for one call at a time. `threads` are those of the
    CPU; 0 is one per processor."""

    def __init__(self, gpu=None, threads=0):
        gpu = None if gpu is None else _whole("gpu", gpu, 0, 2**31)
        threads = _whole("threads", threads, 0, 2**32)  # the library knows how many are too many
        self.handle, self.gpu, self.functions = P(), gpu, load()
        if gpu is None:
            self.call("create_cpu", threads)
        else:
            self.call("create_gpu", gpu)

    def __del__(self):
        if hasattr(self, "functions"):
            self.functions["destroy"](self.handle)

    def __reduce__(self):
        raise TypeError("a scanbench.Handle cannot be copied or pickled: create another")

    def call(self, function, *arguments):
        check(self.functions[function](self.handle, *arguments), self.handle)


def _whole(name, value, least, end):
    """The value, which must be a whole number from `least` to below `end`."""
    try:
        if isinstance(value, bool):
            raise TypeError  # cumsum(x, True) does not mean the second axis
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}: it must be a whole number") from None
    if not least <= number < end:
        raise ValueError(f"{name} is {number}: it must be from {least} to {end - 1}")
    return number


_of_thread = threading.local()


def _begin(array, handle):
    """The handle given, or this thread's for the array's device and stream; and what is known of the array."""
    kind = kind_of("the input", array)
    if handle is None:
        handles = _of_thread.__dict__.setdefault("handles", {})
        handle = handles.get((kind.gpu, kind.stream))
        if handle is None:
            handle = handles[kind.gpu, kind.stream] = Handle(kind.gpu)
    elif not isinstance(handle, Handle):
        raise TypeError(f"handle is a {type(handle).__name__}: it must be a scanbench.Handle, or None")
    if kind.gpu != handle.gpu:
        raise TypeError(f"the input is {_place(kind)}: the handle is of {_device(handle.gpu)}")
    return handle, kind, kind.facts(array)


def _device(gpu):
    return "the CPU" if gpu is None else f"GPU {gpu}"


def _place(kind):
    return f"an array of {kind.name} on {_device(kind.gpu)}"


def _number_of(facts, types=TYPES):
    if facts.dtype not in types:
        aim = "" if types is TYPES else "as keys with values or indices, "
        is_mask = types is TYPES and facts.dtype == "bool"
        way_out = "; of a mask, sort and compress take .view('uint8'), and cumsum .astype('int32')" if is_mask else ""
        raise TypeError(f"no arrays of {named(facts.dtype)}: {aim}elements must be one of "
                        f"{', '.join(dtype.name for dtype in types)}, in this machine's byte order{way_out}")
    return types[facts.dtype]


def _same(name, array, kind, facts):
    """The facts of another array of the call, which must be like the first."""
    its_kind = kind_of(name, array)
    if (its_kind.name, its_kind.gpu) != (kind.name, kind.gpu):
        raise TypeError(f"{name} is {_place(its_kind)}: it must be {_place(kind)}, like the input")
    its = kind.facts(array)
    if its.dtype != facts.dtype:
        raise TypeError(f"{name} has elements of {named(its.dtype)}: they must be of {named(facts.dtype)}, "
                        "like the input's")
    if its.shape != facts.shape:
        raise ValueError(f"{name} has shape {its.shape}: it must have {facts.shape}, like the input")
    return its


def _begin_sort(keys, handle, types):
    """As _begin(), and the number of the keys' type, one of `types`."""
    handle, kind, facts = _begin(keys, handle)
    if len(facts.shape) != 1:
        raise ValueError(f"the input has shape {facts.shape}: to be sorted it must have one dimension")
    return handle, kind, facts, _number_of(facts, types)


def _along(handle, kind, inputs, axis, out, function, *numbers, rows=True):
    """Calls the function for the rows along an axis of the inputs, each an array and its facts. Copies what is not a
    contiguous array of rows."""
    facts = inputs[0][1]
    dimensions = len(facts.shape)
    if dimensions == 0:
        raise ValueError("the input has no dimension: give .reshape(1)")
    axis = _whole("axis", axis, -dimensions, dimensions)
    is_last = axis % dimensions == dimensions - 1
    out_facts = None if out is None else _same("out", out, kind, facts)
    if out_facts is not None and out_facts.is_read_only:
        raise ValueError("out is read-only: it must be writeable")
    with kind.current():
        if not is_last:
            moved = [kind.move_axis(array, axis, -1) for array, _ in inputs]
            inputs = [(array, kind.facts(array)) for array in moved]
        inputs = [plain(kind, *source) for source in inputs]
        shape = inputs[0][1].shape
        is_direct = out is not None and is_last and out_facts.is_plain
        result = out if is_direct else kind.empty(shape, inputs[0][0])
        result_facts = out_facts if is_direct else kind.facts(result)
        addresses = [source.address for _, source in inputs] + [result_facts.address]
        handle.call(function, *numbers, *addresses, facts.size, *([shape[-1]] if rows else []), kind.stream)
        if not is_direct:
            result = result if is_last else kind.move_axis(result, -1, axis)
        if out is None:
            return result
        if not is_direct:
            out[...] = result
        return out


def _scan(op, x, axis, out, exclusive, handle):
    handle, kind, facts = _begin(x, handle)
    return _along(handle, kind, [(x, facts)], axis, out, "scan", op, _number_of(facts), int(not exclusive))


def cumsum(x, axis=-1, out=None, exclusive=False, handle=None):
    """Sums of the elements up to each; if exclusive, of those before it, from 0 on."""
    return _scan(SUM, x, axis, out, exclusive, handle)


def cummax(x, axis=-1, out=None, exclusive=False, handle=None):
    """The largest element up to each. An exclusive one begins with the lowest element of the type, of floats an
    infinity. If there is a NaN, the result is unspecified."""
    return _scan(MAX, x, axis, out, exclusive, handle)


def cummin(x, axis=-1, out=None, exclusive=False, handle=None):
    """The smallest element up to each; else as cummax."""
    return _scan(MIN, x, axis, out, exclusive, handle)


def linear_recurrence(a, b, axis=-1, out=None, handle=None):
    """h[i] = a[i] * h[i - 1] + b[i] along an axis, with h[-1] = 0. Products of consecutive elements of a must not
    overflow."""
    handle, kind, facts = _begin(a, handle)
    inputs = [(a, facts), (b, _same("b", b, kind, facts))]
    return _along(handle, kind, inputs, axis, out, "linear_recurrence", _number_of(facts))


def sort(x, out=None, handle=None):
    """The elements of an array of one dimension in ascending order: -0 before 0, and NaN beyond the infinity
    of its sign."""
    handle, kind, facts, number = _begin_sort(x, handle, TYPES)
    return _along(handle, kind, [(x, facts)], -1, out, "sort_keys", number, rows=False)


def argsort(x, handle=None):
    """The places of the elements of an array of one dimension in ascending order, as of sort, as int64. Equal
    elements keep their order."""
    handle, kind, facts, number = _begin_sort(x, handle, KEY_TYPES)
    n = facts.size
    narrow = facts.dtype.itemsize == 4 and n < 2**31
    with kind.current():
        keys, places = plain(kind, x, facts), kind.indices(n, "int32" if narrow else "int64", x)
        sorted_keys, values = kind.empty(facts.shape, x), kind.facts(places)
        handle.call("sort_pairs", number, keys[1].address, kind.facts(sorted_keys).address,
                    values.dtype.itemsize, values.address, values.address, n, kind.stream)
        return kind.widened(places)


def compress(x, handle=None):
    """x[x != 0]: the nonzero elements of an array of any shape, in their order, as an array of one dimension. It lies in
    memory for all elements. On a GPU this waits for their number."""
    handle, kind, facts = _begin(x, handle)
    number, count = _number_of(facts), U64()
    with kind.current():
        source, kept = plain(kind, x, facts), kind.empty((facts.size,), x)
        handle.call("compact_nonzero", number, source[1].address, kind.facts(kept).address,
                    ctypes.byref(count), facts.size, kind.stream)
        return kept[: count.value]
