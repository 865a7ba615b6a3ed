"""Makes moments.json beside it: `python3 test/answers/moments.py > test/answers/moments.json`.

Means, covariances and Ledoit-Wolf shares of small tables. numpy.cov and sklearn.covariance give them where they can; each is also computed
here in exact fractions, from the definitions, and the program stops where the two differ by more than rounding of float64.
"""

import json
import platform
from fractions import Fraction

import numpy
import sklearn
from sklearn.covariance import ledoit_wolf


def exact(rows, weights, frequencies, ddof, fixed=None):
    """Mean, covariance and Ledoit-Wolf share (of the divisor N, about the mean or a fixed one) in fractions, rounded once."""
    x = [[Fraction(v) for v in row] for row in rows]
    a = [Fraction(v) for v in weights]
    f = [Fraction(v) for v in frequencies]
    n = len(x[0])
    w = [p * q for p, q in zip(a, f)]
    total = sum(w)
    squared = sum(p * p * q for p, q in zip(a, f))
    mean = [sum(p * row[j] for p, row in zip(w, x)) / total for j in range(n)]
    centre = mean if fixed is None else [Fraction(v) for v in fixed]
    d = [[row[j] - centre[j] for j in range(n)] for row in x]
    second = [[sum(p * e[i] * e[j] for p, e in zip(w, d)) for j in range(n)] for i in range(n)]
    divisor = total - ddof * squared / total
    s = [[v / total for v in row] for row in second]
    target = sum(s[i][i] for i in range(n)) / n
    distance = sum((s[i][j] - (target if i == j else 0)) ** 2 for i in range(n) for j in range(n))
    size = sum(v * v for row in s for v in row)
    fourth = sum(p * sum(v * v for v in e) ** 2 for p, e in zip(w, d)) / total
    spread = (fourth - size) * squared / total**2
    share = 0 if distance == 0 else min(spread, distance) / distance
    return {
        "mean": [float(v) for v in mean],
        "covariance": [[float(v / divisor) for v in row] for row in second],
        "ledoitWolf": float(share),
    }


def near(ours, theirs, tolerance=1e-12):
    assert numpy.allclose(ours, theirs, rtol=tolerance, atol=0), (ours, theirs)


def case(name, rows, ddof=1, weights=None, frequencies=None, mean=None):
    rows = numpy.asarray(rows, dtype=float).tolist()
    count = len(rows)
    answer = exact(rows, weights or [1] * count, frequencies or [1] * count, ddof, mean)
    sources = []
    if mean is None:
        x = numpy.array(rows).T
        a = None if weights is None else numpy.array(weights)
        f = None if frequencies is None else numpy.array(frequencies)
        cov = numpy.atleast_2d(numpy.cov(x, ddof=ddof, aweights=a, fweights=f))
        near(answer["covariance"], cov, 1e-6 if abs(numpy.mean(x)) > 1e6 else 1e-12)
        sources.append("numpy.cov")
    if weights is None:
        repeated = numpy.repeat(numpy.array(rows), frequencies or [1] * count, axis=0)
        centred = repeated if mean is None else repeated - numpy.array(mean)
        share = ledoit_wolf(centred, assume_centered=mean is not None)[1]
        near(answer["ledoitWolf"], share, 1e-6 if abs(numpy.mean(centred)) > 1e6 else 1e-10)
        sources.append("sklearn.covariance.ledoit_wolf")
    asked = {"ddof": ddof, "weights": weights, "frequencies": frequencies, "fixedMean": mean}
    asked = {key: value for key, value in asked.items() if value is not None}
    return {"name": name, "agreesWith": sources, "rows": rows, **asked, **answer}


random = numpy.random.RandomState(7)


def table(count, n, spread=1.0, offset=0.0):
    mix = random.standard_normal((n, n))
    return numpy.round(random.standard_normal((count, n)) @ mix * spread, 3) + offset


small = table(12, 3)
weights = numpy.round(random.uniform(0, 2, 12), 3).tolist()
weights[4] = 0.0
frequencies = [1, 2, 0, 3, 1, 1, 5, 1, 0, 2, 1, 1]
cases = [
    case("plain", small),
    case("ddof 0", small, ddof=0),
    case("weights", small, weights=weights),
    case("weights, ddof 0", small, weights=weights, ddof=0),
    case("frequencies", small, frequencies=frequencies),
    case("weights and frequencies, ddof 2", small, weights=weights, frequencies=frequencies, ddof=2),
    case("a fixed mean", small, ddof=0, mean=[0.5, -1.0, 0.25]),
    case("a fixed mean far away, weights", small, ddof=0, mean=[100.0, -1000.0, 0.25], weights=weights),
    case("one dimension", table(9, 1)),
    case("an offset of 1e8", table(15, 2, 1.0, 1e8)),
    case("more dimensions than rows", table(6, 10)),
    case("scales from 1e-3 to 1e3", table(40, 4) * numpy.array([1e-3, 1.0, 30.0, 1e3])),
    case("two rows", table(2, 3)),
]
versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}, scikit-learn {sklearn.__version__}"
source = f"test/answers/moments.py, by {versions}: exact fractions, rounded to float64, that agree with the functions named"
print('{\n  "source": ' + json.dumps(source) + ',\n  "cases": [')
print(",\n".join("    " + json.dumps(each) for each in cases))
print("  ]\n}")
