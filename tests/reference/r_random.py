"""The default random numbers of R (Mersenne Twister, inversion), so that published examples with `set.seed` can be rebuilt.

Written from the description in R's help page `Random` and Matsumoto and Nishimura (1998); numpy does the twisting.
"""

import numpy as np
from scipy.special import ndtri

BIG = 134217728


class RRandom:
    """What R draws after `set.seed(seed)`."""

    def __init__(self, seed: int) -> None:
        state = seed & 0xFFFFFFFF
        words = []
        for _ in range(50):
            state = (69069 * state + 1) & 0xFFFFFFFF
        for _ in range(625):
            state = (69069 * state + 1) & 0xFFFFFFFF
            words.append(state)
        self._twister = np.random.MT19937()
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words[1:], dtype=np.uint32), "pos": 624},
        }

    def uniform(self, n: int) -> np.ndarray:
        """runif(n)."""
        raw = self._twister.random_raw(n).astype(np.float64) * 2.3283064365386963e-10
        return np.clip(raw, 0.5 * 2.328306437080797e-10, 1 - 0.5 * 2.328306437080797e-10)

    def normal(self, n: int) -> np.ndarray:
        """rnorm(n): two uniforms each."""
        u = self.uniform(2 * n).reshape(n, 2)
        return ndtri((np.floor(BIG * u[:, 0]) + u[:, 1]) / BIG)

    def sample(self, size: int, n: int) -> np.ndarray:
        """sample(n, size, replace = TRUE) − 1, by rejection of random bits."""
        bits = max(int(n - 1).bit_length(), 1)
        out: list[int] = []
        while len(out) < size:
            value = 0
            for _ in range(0, bits, 16):
                value = 65536 * value + int(np.floor(self.uniform(1)[0] * 65536))
            value &= (1 << bits) - 1
            if value < n:
                out.append(value)
        return np.array(out)
