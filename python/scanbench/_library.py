"""libscanbench through ctypes: its functions, and its statuses as exceptions."""
import ctypes
import functools
import os

P, INT, SIZE, U64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64

ARGUMENTS = {
    "version": [],
    "status_text": [INT],
    "error": [P],
    "create_cpu": [ctypes.POINTER(P), ctypes.c_uint],
    "create_gpu": [ctypes.POINTER(P), INT],
    "destroy": [P],
    "scan": [P, INT, INT, INT, P, P, U64, U64, P],
    "linear_recurrence": [P, INT, P, P, P, U64, U64, P],
    "compact_nonzero": [P, INT, P, P, P, U64, P],
    "sort_keys": [P, INT, P, P, U64, P],
    "sort_pairs": [P, INT, P, P, SIZE, P, P, U64, P],
}
RESULTS = {"status_text": ctypes.c_char_p, "error": ctypes.c_char_p, "destroy": None}  # others: a status


class Error(Exception):
    """What is not an argument's fault; the library's other statuses are exceptions of Python."""


# SCANBENCH_ERROR_TYPE, _SIZE, _ALIGNMENT, _OVERLAP, _MEMORY, _UNSUPPORTED and _THREADS.
EXCEPTIONS = {2: TypeError, 3: ValueError, 4: ValueError, 5: ValueError, 9: MemoryError, 10: NotImplementedError,
              13: ValueError}


@functools.cache
def load():
    """The library's functions, by their names without `scanbench_`."""
    name = os.environ.get("SCANBENCH_LIBRARY", "libscanbench.so.1")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise OSError(f"{error}: set the environment variable SCANBENCH_LIBRARY to the path of libscanbench.so, "
                      "which `make library` builds") from None
    functions = {}
    for function, arguments in ARGUMENTS.items():
        try:
            functions[function] = getattr(library, "scanbench_" + function)
        except AttributeError:
            raise OSError(f"{name} is not libscanbench, or older than this package: it has no "
                          f"scanbench_{function}") from None
        functions[function].argtypes = arguments
        functions[function].restype = RESULTS.get(function, INT)
    return functions


def check(status, handle):
    if status != 0:
        text = load()["error"](handle) or load()["status_text"](status)
        raise EXCEPTIONS.get(status, Error)(text.decode())
