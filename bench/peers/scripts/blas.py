"""Which BLAS the process has loaded, and on how many threads it runs."""

import contextlib
import ctypes
import functools
import os
import re


def loaded_blas():
    """(name, threads), each None if unknown."""
    try:
        import threadpoolctl

        for pool in threadpoolctl.threadpool_info():
            if pool["user_api"] == "blas":
                parts = [pool["internal_api"], pool.get("version"), pool.get("architecture")]
                return " ".join(part for part in parts if part), pool["num_threads"]
    except ImportError:
        pass
    for path in _mapped():
        found = _openblas(path)
        if found:
            return found
    for path in _mapped():
        return os.path.basename(path), None
    return None, None


def processors():
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@contextlib.contextmanager
def one_thread():
    """Makes the BLAS compute on the calling thread; a BLAS without such a setting stays as it is."""
    setter, threads = _setter()
    setter(1)
    yield
    setter(threads)


@functools.cache
def _setter():
    """(function that sets the number of threads, current number)."""
    for path in _mapped():
        library = ctypes.CDLL(path)
        for before in ("", "scipy_"):
            for after in ("", "64_"):
                name = f"{before}openblas_%s_num_threads{after}"
                if hasattr(library, name % "set"):
                    return getattr(library, name % "set"), getattr(library, name % "get")()
    return (lambda threads: None), 0


def _mapped():
    """Libraries of the process that look like a BLAS; only Linux lists them."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(None, 5)[5].strip() for line in maps if "/" in line}
    except OSError:
        return []
    return sorted(path for path in paths if re.search(r"openblas|mkl_rt|libblis|libblas", os.path.basename(path)))


def _openblas(path):
    """Asks OpenBLAS itself; builds for NumPy's wheels decorate its names."""
    library = ctypes.CDLL(path)
    for before in ("", "scipy_"):
        for after in ("", "64_"):
            try:
                config = getattr(library, f"{before}openblas_get_config{after}")
                threads = getattr(library, f"{before}openblas_get_num_threads{after}")
                core = getattr(library, f"{before}openblas_get_corename{after}")
            except AttributeError:
                continue
            config.restype = core.restype = ctypes.c_char_p
            version = re.search(r"OpenBLAS [\d.]+", config().decode())
            return f"{version[0] if version else 'OpenBLAS'} {core().decode()}", threads()
    return None
