"""P(X <= h, Y <= k) of a bivariate t by mpmath's quadrature of the density of X times the distribution function of Y
given X (one more degree of freedom): python3 bivariate-student.py > bivariate-student.json. mpmath 1.4.1."""

import json

import mpmath as mp

mp.mp.dps = 25


def cdf(t, nu):
    tail = mp.betainc(mp.mpf(nu) / 2, mp.mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


def density(t, nu):
    scale = mp.gamma(mp.mpf(nu + 1) / 2) / (mp.sqrt(nu * mp.pi) * mp.gamma(mp.mpf(nu) / 2))
    return scale * (1 + t * t / nu) ** (-mp.mpf(nu + 1) / 2)


def below(h, k, r, nu):
    def both(x):
        return density(x, nu) * cdf((k - r * x) * mp.sqrt((nu + 1) / ((1 - r * r) * (nu + x * x))), nu + 1)

    h, k, r = mp.mpf(h), mp.mpf(k), mp.mpf(r)
    step = k / r if r != 0 else mp.mpf(0)
    near = [step + times * mp.sqrt(1 - r * r) for times in (-1000, -30, -1, 1, 30, 1000)] if abs(r) > 0.9999 else []
    ends = sorted({end for end in (mp.mpf(-50), -5, -1, 0, 1, 5, step - 0.05, step, step + 0.05, *near) if end < h})
    return mp.quad(both, [-mp.inf, *ends, h])


cases = [
    (1, -2, 0.5, 1),
    (0.7, 0.7, -0.5, 2),
    (-1.5, -2, 0.875, 3),
    (4, 0.3125, -0.96875, 4),
    (-6, 1, 0, 5),
    (0, 2, 0.875, 10),
    (1, -2, -0.5, 31),
    (0.75, 0.75, 0.999, 6),
    (1, 1, 0.25, 999),
    (-3, -3, 1 - 1e-15, 2),
    (1, 1.00000001, 1 - 1e-15, 2),
    (-3, 3, 1e-15 - 1, 5),
    (-20, -20, 1 - 1e-15, 1),
    (1, -1.00000001, 1e-15 - 1, 1),
]
keys = ("h", "k", "r", "nu")
print(json.dumps([{**dict(zip(keys, case)), "probability": float(below(*case))} for case in cases], indent=1))
