"""Prints what the tests of comparisons expect, by SciPy and statsmodels.

python3 -m venv venv && venv/bin/pip install scipy statsmodels && venv/bin/python comparison.py
"""

import numpy
import scipy
import statsmodels
from scipy import stats
from scipy.optimize import brentq
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

print("scipy", scipy.__version__, "statsmodels", statsmodels.__version__)

BASELINE = numpy.array([4.61, 4.58, 4.66, 4.63, 4.55])
OTHER = numpy.array([4.68, 4.70, 4.64, 4.75])
PAIRED = numpy.array([4.64, 4.60, 4.71, 4.62, 4.61])
LEAST = 0.1

paired = stats.ttest_rel(PAIRED, BASELINE)
print("paired", repr(paired.pvalue), paired.confidence_interval(0.95), paired.confidence_interval(0.9))
print("paired tost", repr(ttost_paired(PAIRED, BASELINE, -LEAST, LEAST)[0]))
welch = stats.ttest_ind(OTHER, BASELINE, equal_var=False)
print("welch", repr(welch.pvalue), repr(welch.df), welch.confidence_interval(0.95), welch.confidence_interval(0.9))
print("welch tost", repr(ttost_ind(OTHER, BASELINE, -LEAST, LEAST, usevar="unequal")[0]))

P_VALUES = [0.01, 0.04, 0.03, 0.005, 0.2, 0.03]
print("holm", [repr(float(p)) for p in multipletests(P_VALUES, method="holm")[1]])

for table in [[[6, 2], [1, 8]], [[0, 8], [6, 2]], [[3, 3], [3, 3]], [[0, 5], [0, 7]], [[2, 198], [9, 191]]]:
    print("fisher", table, repr(float(stats.fisher_exact(table)[1])))

ROUNDS = numpy.array([0.021, -0.012, 0.035, -0.004, 0.018, 0.001, 0.027])
APART = numpy.array([1, -1, 2, -2, 1, -1, 1])
line = stats.linregress(APART, ROUNDS)
freedom = len(ROUNDS) - 2
t = stats.t(freedom)
print("in order", repr(line.intercept), repr(line.intercept_stderr))
print("in order", [[repr(float(line.intercept + sign * t.ppf((1 + c) / 2) * line.intercept_stderr)) for sign in (-1, 1)] for c in (0.95, 0.9)])
print("in order", repr(2 * float(t.sf(abs(line.intercept / line.intercept_stderr)))))


def smallest(is_enough):
    return next(count for count in range(2, 10_000) if is_enough(count))


power_both, power = stats.t.ppf(0.95, 9), stats.t.ppf(0.9, 9)
print("advice", smallest(lambda n: (stats.t.ppf(0.95, n - 1) + power_both) / n**0.5 <= 0.1))
print("advice", smallest(lambda n: (stats.t.ppf(0.975, n - 1) + power) / n**0.5 <= 0.5), repr(float(stats.t.ppf(0.8, 9))))

# Two runs after one another, with uneven distances: generalized least squares with whole matrices of covariance.
TIMES = numpy.array([0, 11, 20, 31, 40, 100, 110, 121, 130, 139])
VALUES = numpy.array([4.61, 4.63, 4.60, 4.57, 4.58, 4.52, 4.54, 4.50, 4.51, 4.47])
design = numpy.column_stack([numpy.ones(10), TIMES >= 100])
usual = numpy.median(numpy.concatenate([numpy.diff(TIMES[:5]), numpy.diff(TIMES[5:])]))
places = numpy.concatenate([[0], numpy.cumsum(numpy.minimum(numpy.diff(TIMES) / usual, 5))])
apart = abs(places[:, None] - places[None, :])
memories = [None] + [0.7 * (30 / 0.7) ** (step / 11) for step in range(12)]
parts = []
for memory in memories:
    covariance = numpy.eye(10) if memory is None else numpy.exp(-apart / memory)
    inverse = numpy.linalg.inv(covariance)
    information = design.T @ inverse @ design
    estimate = numpy.linalg.solve(information, design.T @ inverse @ VALUES)
    left = VALUES - design @ estimate
    rest = left @ inverse @ left
    logs = numpy.linalg.slogdet(covariance)[1] + numpy.linalg.slogdet(information)[1]
    weight = (2 if memory is None else 1) * numpy.exp(-0.5 * logs) * rest ** (-8 / 2)
    error = (rest / 8 * numpy.linalg.inv(information)[1, 1]) ** 0.5
    parts.append((weight, estimate[1], error))
weights, centres, errors = (numpy.array(column) for column in zip(*parts))
weights /= weights.sum()
centre = float(weights @ centres)
outside = lambda half: float(weights @ (stats.t.sf((half - centres + centre) / errors, 8) + stats.t.sf((half + centres - centre) / errors, 8)))
halves = [brentq(lambda half: outside(half) - 1 + c, 1e-9, 10) for c in (0.95, 0.99)]
freedom = brentq(lambda f: stats.t.ppf(0.995, f) / stats.t.ppf(0.975, f) - halves[1] / halves[0], 1, 8)
print("over time", repr(centre), [repr(half) for half in halves], repr(freedom))
