"""Random numbers and functions that give the same bits on every machine and with every version of numpy.

numpy promises that for its bit generators alone: what `Generator` makes of them may change, and `exp` and `log` differ
in the last bit from one processor to the next. Here only operations that are exact by IEEE 754 follow them.
"""

import zlib

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

_LN2 = 0.6931471805599453
_SQRT_HALF = 0.7071067811865476


def uniforms(count: int, seed: int, *purpose: str) -> Float64:
    """`count` numbers in [0, 1). Each purpose has a stream of its own, so that one does not shift another."""
    key = tuple(zlib.crc32(word.encode()) for word in purpose)
    raw = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)).random_raw(count)
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53


def choices(uniform: Float64, weights: tuple[int, ...]) -> Int64:
    """An index for each number, as often as its weight says."""
    bounds = np.cumsum(np.array(weights, np.float64))
    found: Int64 = np.searchsorted(bounds, uniform * bounds[-1], side="right").astype(np.int64)
    return found


def exp(x: Float64) -> Float64:
    """The exponential function, for |x| < 700, to 13 digits."""
    powers = np.floor(x * (1 / _LN2) + 0.5)
    rest = x - powers * _LN2
    total = np.ones_like(rest)
    for n in range(14, 0, -1):
        total = total * rest
        total = total * (1 / n)
        total = total + 1.0
    return np.ldexp(total, powers.astype(np.int32))


def log(x: Float64) -> Float64:
    """The natural logarithm of positive numbers, to 13 digits."""
    mantissa, power = np.frexp(x)
    small = mantissa < _SQRT_HALF
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    power = power - small
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    total = np.zeros_like(ratio)
    for n in range(21, 0, -2):
        total = total * square
        total = total + 1 / n
    return 2.0 * ratio * total + power * _LN2


_CENTRE = (
    (
        *(-3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02),
        *(1.383577518672690e02, -3.066479806614716e01, 2.506628277459239e00),
    ),
    (
        *(-5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02),
        *(6.680131188771972e01, -1.328068155288572e01, 1.0),
    ),
)
_TAIL = (
    (
        *(-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e00),
        *(-2.549732539343734e00, 4.374664141464968e00, 2.938163982698783e00),
    ),
    (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00, 3.754408661907416e00, 1.0),
)
_TAIL_BEGINS = 0.02425


def normal_quantile(p: Float64) -> Float64:
    """The standard normal deviate below which a share p of (0, 1) lies (Acklam's approximation, to 8 digits)."""
    centre = p - 0.5
    square = centre * centre
    middle = centre * _polynomial(_CENTRE[0], square) / _polynomial(_CENTRE[1], square)
    near = np.minimum(p, 1.0 - p)
    root = np.sqrt(-2.0 * log(np.minimum(near, _TAIL_BEGINS)))
    tail = _polynomial(_TAIL[0], root) / _polynomial(_TAIL[1], root)
    return np.where(near < _TAIL_BEGINS, np.where(p < 0.5, tail, -tail), middle)


def _polynomial(coefficients: tuple[float, ...], x: Float64) -> Float64:
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total = total * x
        total = total + coefficient
    return total
