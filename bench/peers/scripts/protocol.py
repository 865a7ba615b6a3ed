"""The peer's side of the line protocol (bench/peers/process-peer.ts describes it), for Python.

A line is a JSON object. The first one goes out: {"about", "threads", "facts", "dtypes", "offers"}, where offers names the
suites and the inputs of each; or {"absent": why}. Then each request gets one reply: prepare, result, measure, close. Arrays travel in files of
little-endian numbers in the working folder.
"""

import gc
import glob
import json
import os
import sys
from time import perf_counter_ns

# Output that a library prints must not mix with the protocol: only `lines` reaches the other side, the rest goes to
# standard error.
lines = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

# Shorter runs than this are timed several at a time, so that the clock's own cost does not show.
SHORTEST_NANOSECONDS = 20_000

# The suites of sampling with the inputs of their cases.
OFFERS = {
    "transform-normal": ["mean", "covariance", "z"],
    "transform-normal-factored": ["mean", "factor", "z"],
    "matrix-product": ["a", "b"],
    "matrix-vector": ["a", "z"],
    "cholesky": ["covariance"],
    "sampling": ["mean", "covariance"],
    "normals": [],
}

# What a peer that computes many small normals at once offers.
BATCHES = {"batches": ["covariances", "means", "points"]}

# What a peer that reads and writes files offers, alone or in addition.
TABLES = {"tables": ["table"]}


def tell(reply):
    lines.write(json.dumps(reply) + "\n")
    lines.flush()


def absent(reason):
    tell({"absent": reason})
    sys.exit(0)


def measure(run, milliseconds):
    """Nanoseconds of each run, after one to warm up and one to see how many make a measurable time."""
    start = perf_counter_ns()
    run()
    warm_up = perf_counter_ns() - start
    # The result was computed before, so this run is not cold: if it outlasts the time asked for, it is not repeated.
    if warm_up >= milliseconds * 1e6:
        return [warm_up]
    start = perf_counter_ns()
    run()
    batch = max(1, SHORTEST_NANOSECONDS // max(1, perf_counter_ns() - start))
    times = []
    gc.disable()
    end = perf_counter_ns() + milliseconds * 1e6
    while not times or perf_counter_ns() < end:
        start = perf_counter_ns()
        for _ in range(batch):
            run()
        times.append((perf_counter_ns() - start) / batch)
    gc.enable()
    return times


def serve(about, threads, facts, dtypes, prepare, load, save, offers=OFFERS):
    """prepare(problem, inputs) gives a function that runs once and returns its result, or None where the case is not
    offered; a pair of functions is one that runs and one that makes of what it returns the result to compare."""
    facts["dtype"] = " or ".join(dtypes)
    tell({"about": about, "threads": threads, "facts": facts, "dtypes": dtypes, "offers": offers})
    runs = {}

    def answer(request):
        verb, key = request["do"], request["id"]
        if verb == "prepare":
            inputs = {name: load(f"{key}-{name}", request["dtype"]) for name in offers[request["suite"]]}
            run = prepare(request, inputs)
            if run is not None:
                runs[key] = run if isinstance(run, tuple) else (run, lambda result: result)
            return {"offered": run is not None}
        if verb == "result":
            length, dtype = save(runs[key][1](runs[key][0]()), request["rows"], f"{key}-result")
            return {"length": length, "dtype": dtype}
        if verb == "measure":
            return {"nanoseconds": measure(runs[key][0], request["milliseconds"])}
        runs.pop(key, None)
        for path in glob.glob(f"{key}-*"):
            os.remove(path)
        return {"closed": True}

    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # reported, and the next request is served
            reply = {"error": f"{type(error).__name__}: {error}"}
        tell(reply)
