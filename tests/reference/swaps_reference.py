"""Slow checks of who swapped with whom."""

import numpy as np


def is_involution(partner: np.ndarray) -> bool:
    return all(partner[partner[i]] == i for i in range(len(partner)))


def best_donor(unit: int, profile: np.ndarray, area: np.ndarray, priority: np.ndarray, used: np.ndarray) -> int:
    free = [
        d for d in range(len(profile))
        if not used[d] and d != unit and profile[d] == profile[unit] and area[d] != area[unit]
    ]  # fmt: skip
    return min(free, key=lambda d: priority[d]) if free else -1
