"""Prints what the tests of confidence sequences expect: Bayes factors by integration and by generalized least squares.

python3 stopping.py
"""

from math import exp, log, pi, sqrt

SPREAD = 1.0


def normal(x):
    return exp(-x * x / 2) / sqrt(2 * pi)


def by_integration(values):
    """The likelihood integrated over the deviation s by ds / s, and over the mean m = d s with d from N(0, 1)."""
    count = len(values)
    sums = [sum(v**p for v in values) for p in (1, 2)]
    scale = sqrt(sums[1] / count)
    logs = [log(scale) - 2.5 + 6.0 * i / 300 for i in range(301)]
    effects = [-8 + 16.0 * i / 400 for i in range(401)]

    def likelihood(log_s, d):
        s = exp(log_s)
        squares = sums[1] - 2 * d * s * sums[0] + count * (d * s) ** 2
        return exp(-count * log_s - squares / (2 * s * s))

    alone = sum(likelihood(l, 0) for l in logs)
    step = effects[1] - effects[0]
    mixed = sum(likelihood(l, d) * normal(d / SPREAD) / SPREAD * step for l in logs for d in effects)
    return mixed / alone


def by_least_squares(values, apart):
    """Marginal likelihoods with a flat prior on the slope over `apart` and ds / s, the mean being 0 or d s."""
    n = len(values)
    dot = lambda a, b: sum(x * y for x, y in zip(a, b))
    ones = [1.0] * n

    def log_marginal(g):
        weight = g / (1 + g * n)
        inner = lambda a, b: dot(a, b) - weight * dot(a, ones) * dot(b, ones)
        xx, xy, yy = inner(apart, apart), inner(apart, values), inner(values, values)
        return -0.5 * log(1 + g * n) - 0.5 * log(xx) - (n - 1) / 2 * log(yy - xy * xy / xx)

    return exp(log_marginal(SPREAD) - log_marginal(0.0))


FIVE = [0.051, 0.038, 0.065, 0.046, 0.058]
SEVEN = [0.021, -0.012, 0.035, -0.004, 0.018, 0.001, 0.027]
APART = [1, -1, 2, -2, 1, -1, 1]
print("five pairs", repr(by_integration(FIVE)))
print("seven pairs in order", repr(by_least_squares(SEVEN, APART)))
for degrees, values in ((4, 5.0), (9, 10.0), (38, 40.0)):
    for alpha in (0.05, 0.1):
        most = 1 + SPREAD * values
        ratio = (sqrt(most) / alpha) ** (2 / (degrees + 1))
        print("critical", degrees, values, alpha, repr(sqrt(degrees * (ratio - 1) / (1 - ratio / most))))
