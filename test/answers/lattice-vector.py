"""Makes the generating vector of lib/probability/lattice.ts: python3 test/answers/lattice-vector.py

An embedded lattice rule in base 2, component by component: Cools, Kuo, Nuyens, Constructing embedded lattice rules for multivariate
integration, SIAM J. Sci. Comput. 28 (2006), by fast convolutions (Nuyens, Cools, Math. Comp. 75, 2006).
Points 2^7 to 2^20; space: weighted Korobov, smoothness 2, product weights 1 / j^2.
Each component has the least of its worst ratios to the best error that any could have at a number of points.
"""

import numpy as np

first, last, dimensions = 7, 20, 256
points = 1 << last


def kernel(x):
    return 2 * np.pi**2 * (x * x - x + 1 / 6)


# Odd residues modulo 2^m are +-5^b, and the kernel is even, so only b modulo 2^(m - 2) matters.
powers = np.empty(1 << (last - 2), dtype=np.int64)
powers[0] = 1
for b in range(1, len(powers)):
    powers[b] = powers[b - 1] * 5 % points

# Layer m: the points k / 2^m with k odd. Only one of the two signs of each is kept.
layers = {}
for m in range(3, last + 1):
    size = 1 << (m - 2)
    odd = powers[:size] % (1 << m)
    layers[m] = dict(size=size, odd=odd, spectrum=np.fft.rfft(kernel(odd / (1 << m))), product=np.ones(size))
small = {k: 1.0 for k in range(8) if k in (0, 4, 2, 6)}  # k / 8, where every odd z gives the same kernel

vector = []
for j in range(1, dimensions + 1):
    weight = 1 / j**2
    running = np.full(len(powers), sum(p * (1 + weight * kernel(k / 8)) for k, p in small.items()))
    worst = np.zeros(len(powers))
    for m in range(3, last + 1):
        layer = layers[m]
        # sum over b of product[b] kernel(5^(a + b)): a correlation.
        sums = np.fft.irfft(layer["spectrum"] * np.conj(np.fft.rfft(layer["product"])), layer["size"])
        term = 2 * (layer["product"].sum() + weight * sums)
        running += np.tile(term, len(powers) // layer["size"])
        if m >= first:
            error = running / (1 << m) - 1
            worst = np.maximum(worst, error / error.min())
    a = 0 if j == 1 else int(np.argmin(worst))
    z = int(powers[a])
    vector.append(z)
    for k in small:
        small[k] *= 1 + weight * kernel(k / 8)
    for m, layer in layers.items():
        layer["product"] *= 1 + weight * kernel(layer["odd"] * z % (1 << m) / (1 << m))

for at in range(0, dimensions, 12):
    print("  " + " ".join(f"{z}," for z in vector[at : at + 12]))
