# Makes the numbers of ways-in.json by mpmath with 60 digits: python3 test/answers/ways-in.py > test/answers/ways-in.json
import json
import platform

import mpmath
from mpmath import mp, mpf

mp.dps = 60


def text(value):
    return float(value)


def rows(matrix):
    return [[text(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)]


def hilbert(n):
    return mp.matrix([[mpf(1) / (i + j + 1) for j in range(n)] for i in range(n)])


def kahan(n):
    """K' K of Kahan's upper triangular matrix with s^2 + c^2 = 1, c = 0.285."""
    c = mpf('0.285')
    s = mp.sqrt(1 - c * c)
    k = mp.matrix(n, n)
    for i in range(n):
        for j in range(i, n):
            k[i, j] = s**i * (1 if i == j else -c)
    return k.T * k


def rounded(matrix):
    """The doubles that a reader of the JSON has."""
    return mp.matrix([[mpf(float(matrix[i, j])) for j in range(matrix.cols)] for i in range(matrix.rows)])


def spectrum(matrix):
    given = rounded(matrix)
    values = sorted((v for v in mp.eigsy(given, eigvals_only=True)), reverse=True)
    return {'matrix': rows(given), 'values': [text(v) for v in values]}


def log_density(covariance, x):
    n = covariance.rows
    y = mp.lu_solve(covariance, x)
    square = (x.T * y)[0]
    log_determinant = mp.log(mp.det(covariance))
    return {
        'covariance': rows(covariance),
        'x': [text(v) for v in x],
        'logDeterminant': text(log_determinant),
        'mahalanobis': text(mp.sqrt(square)),
        'logPdf': text(-(n * mp.log(2 * mp.pi) + log_determinant + square) / 2),
    }


def low_rank(factor, diagonal, x):
    f, d = mp.matrix(factor), mp.diag([mpf(v) for v in diagonal])
    answer = log_density(f * f.T + d, mp.matrix(x))
    del answer['covariance']
    return {'factor': factor, 'diagonal': diagonal, **answer}


def singular(root, w):
    """A covariance A A' of exact integers, and x = A w, whose shortest root is w: A has independent columns."""
    a = mp.matrix(root)
    log_determinant = mp.log(mp.det(a.T * a))
    square = sum(mpf(v) ** 2 for v in w)
    return {
        'covariance': rows(a * a.T),
        'rank': a.cols,
        'x': [text(v) for v in a * mp.matrix(w)],
        'logDeterminant': text(log_determinant),
        'mahalanobis': text(mp.sqrt(square)),
        'logPdf': text(-(a.cols * mp.log(2 * mp.pi) + log_determinant + square) / 2),
    }


wide = [10 ** (2 * i - 6) for i in range(7)]
units = [10**i for i in range(-3, 4)]
plane = [[1, 2], [3, -1], [0, 4], [5, 5], [2, 1], [-1, 3], [4, 0]]
print(
    json.dumps(
        {
            'source': 'python3 test/answers/ways-in.py > test/answers/ways-in.json, with mpmath %s on Python %s, 60 digits'
            % (mpmath.__version__, platform.python_version()),
            'spectra': {'hilbert8': spectrum(hilbert(8)), 'kahan12': spectrum(kahan(12))},
            'hilbert4': log_density(rounded(hilbert(4)), mp.matrix([1, -1, mpf('0.5'), 2])),
            'hilbert8': log_density(rounded(hilbert(8)), mp.matrix([1, -1, mpf('0.5'), 2, 0, 1, -2, mpf('0.25')])),
            'wide': log_density(mp.diag([mpf(v) for v in wide]), mp.matrix(units)),
            'lowRank': [
                low_rank([[1, 2], [3, 4], [5, 6]], [1, 2, 3], [1, 2, 3]),
                low_rank([[2]], [3], [1]),
                low_rank([[1000, 999], [2000, 2001], [3000, 3003], [-500, 250]], [1, 0.5, 2, 4], [10, -3, 5, 1]),
                low_rank([[1, 1], [2, 2], [3, 3]], [1, 2, 3], [1, 0, -1]),
                low_rank([[1, 0, 2, 4], [0, 1, 3, -2]], [0.25, 4], [1, 2]),
            ],
            'singular': [
                singular([[1], [1]], [2]),
                singular([[1, 2], [3, 4], [5, 6]], [1, -2]),
                singular([[u * v for v in row] for u, row in zip([1, 10, 100, 1000, 1000, 100, 1], plane)], [1, 2]),
            ],
        },
        indent=1,
    )
)
