"""P(T > t) of Student's t to 40 digits: python3 student-cdf.py > student-cdf.json"""
import json
import sys

import mpmath

mpmath.mp.dps = 60


def tail(t, nu):
    t, nu = mpmath.mpf(t), mpmath.mpf(nu)
    return mpmath.betainc(nu / 2, mpmath.mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2


rows = []
for nu in [1e-3, 0.5, 1, 2, 4.2, 30, 1000, 1e6]:
    for t in [1e-12, 1e-3, 0.3, 1, 3, 30, 1e5, 1e9]:
        if nu > 100 and t > 30:
            continue
        value = tail(t, nu)
        if value > mpmath.mpf("1e-300"):
            rows.append({"nu": nu, "t": t, "tail": float(value)})
versions = f"Python {sys.version.split()[0]}, mpmath {mpmath.__version__}"
print("{")
print(f'  "source": "student-cdf.py, {versions}, 60 digits",')
print('  "rows": [')
print(",\n".join("    " + json.dumps(row) for row in rows))
print("  ]\n}")
