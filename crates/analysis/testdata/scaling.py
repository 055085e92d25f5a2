"""Prints what the tests of the Universal Scalability Law expect, by SciPy.

python3 -m venv venv && venv/bin/pip install scipy && venv/bin/python scaling.py

Each quantity has an interval of its own: the law is written with that quantity as a parameter, which is held fixed while
the others are fitted, and the ends are where the sum of squares is as large as Student's t allows.
"""

import numpy
import scipy
from scipy import stats
from scipy.optimize import brentq, curve_fit, least_squares

print("scipy", scipy.__version__)

# SPEC SDM91 on a Sun SPARCcenter 2000, scripts per hour by concurrent users: N. J. Gunther, Guerrilla Capacity Planning,
# 2007, table 5.1; also in the R package usl as specsdm91.
SDM91 = [(1, 64.9), (18, 995.9), (36, 1652.4), (72, 1853.2), (108, 1828.9), (144, 1775.0), (216, 1702.2)]
# Made up: three trials of each number of clients around gamma 1000, alpha 0.05, beta 0.0004.
REPEATED = [
    (1, 1012.0), (1, 991.0), (1, 1003.0),
    (2, 1897.0), (2, 1921.0), (2, 1880.0),
    (4, 3489.0), (4, 3450.0), (4, 3531.0),
    (8, 5805.0), (8, 5890.0), (8, 5731.0),
    (16, 8720.0), (16, 8590.0), (16, 8655.0),
    (32, 10990.0), (32, 10790.0), (32, 10905.0),
    (64, 11080.0), (64, 11290.0), (64, 11190.0),
]


def log_law(clients, gamma, alpha, beta):
    return numpy.log(gamma * clients / (1 + alpha * (clients - 1) + beta * clients * (clients - 1)))




def interval(name, value, least, count, fitted):
    limit = least * (1 + stats.t.ppf(0.975, count - 3) ** 2 / (count - 3))
    over = lambda at: fitted(at) - limit
    ends = []
    for sign in (-1, 1):
        step = 1e-3 * abs(value)
        while over(value + sign * step) < 0:
            step *= 1.5
            if value + sign * step <= 0 and name in ("gamma", "peak", "highest"):
                break
        ends.append(brentq(over, value, value + sign * step, xtol=1e-12 * abs(value), rtol=1e-12))
    print(f"  {name} {value!r} [{ends[0]!r}, {ends[1]!r}]")


def show(name, data, twice):
    clients = numpy.array([it[0] for it in data], dtype=float)
    logs = numpy.log([it[1] for it in data])
    start = (data[0][1] / data[0][0], 0.03, 0.0001)
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "maxfev": 100000}
    (gamma, alpha, beta), _ = curve_fit(log_law, clients, logs, p0=start, **tight)
    least = float(numpy.sum((logs - log_law(clients, gamma, alpha, beta)) ** 2))
    print(name, "squares", repr(least))

    def fixed(law, first):
        """The least sum of squares with the first parameter of a law held."""
        def of(held):
            result = least_squares(
                lambda free: law(held, *free) - logs, first, x_scale=numpy.maximum(numpy.abs(first), 1e-12),
                xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=10000)
            return 2 * result.cost
        return of

    safe_log = lambda value: numpy.log(numpy.maximum(value, 1e-12))
    of_time = lambda time: numpy.log(clients) - safe_log(time)
    u, v = clients - 1, clients * (clients - 1)
    peak = ((1 - alpha) / beta) ** 0.5
    highest = float(numpy.exp(log_law(peak, gamma, alpha, beta)))
    c0, c1, c2 = 1 / gamma, alpha / gamma, beta / gamma
    interval("gamma", gamma, least, len(data), fixed(lambda g, a, b: of_time((1 + a * u + b * v) / g), [alpha, beta]))
    interval("alpha", alpha, least, len(data), fixed(lambda a, g, b: of_time((1 + a * u + b * v) / g), [gamma, beta]))
    interval("beta", beta, least, len(data), fixed(lambda b, g, a: of_time((1 + a * u + b * v) / g), [gamma, alpha]))
    interval("peak", peak, least, len(data), fixed(
        lambda m, p, d: of_time(clients / p + d * (clients - m) ** 2), [highest, c2]))
    interval("highest", highest, least, len(data), fixed(
        lambda p, m, d: of_time(clients / p + d * (clients - m) ** 2), [peak, c2]))
    # The gain fixes c0: gain * time(2 N) = 2 * time(N).
    def of_gain(gain, c1, c2):
        n = twice
        c0 = (2 * (c1 * (n - 1) + c2 * n * (n - 1)) - gain * (c1 * (2 * n - 1) + c2 * 2 * n * (2 * n - 1))) / (gain - 2)
        return of_time(c0 + c1 * u + c2 * v)
    gain = 2 * (c0 + c1 * (twice - 1) + c2 * twice * (twice - 1)) / (
        c0 + c1 * (2 * twice - 1) + c2 * 2 * twice * (2 * twice - 1))
    interval("gain", gain, least, len(data), fixed(of_gain, [c1, c2]))
    levels = sorted(set(clients))
    if len(levels) < len(data):
        means = numpy.array([logs[clients == n].mean() for n in levels])
        pure = sum(float(((logs[clients == n] - logs[clients == n].mean()) ** 2).sum()) for n in levels)
        freedom = len(data) - len(levels)
        allowed = pure / freedom / 3 + 0.01**2
        residuals = means - log_law(numpy.array(levels), gamma, alpha, beta)
        statistic = float((residuals**2).sum()) / allowed / (len(levels) - 3)
        print("  lack of fit", repr(float(stats.f.sf(statistic, len(levels) - 3, freedom))))
        deviations = numpy.exp(residuals * 1.0) - 1
        print("  deviations", [repr(float(it)) for it in deviations])


show("sdm91", SDM91, 36.0)
show("repeated", REPEATED, 16.0)
