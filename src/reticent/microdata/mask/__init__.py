# SPDX-License-Identifier: Apache-2.0
"""Masking methods: one method, one file. The registry below is what plans look names up in."""

from reticent.data.method import Registry
from reticent.microdata.mask.generalize import Generalize
from reticent.microdata.mask.identifiers import NewIdentifiers, RemoveIdentifiers
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.multiplicative import MultiplicativeNoise
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.resample import Resample
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.safe import Safe
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.shuffle import Shuffle
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.synthesize import Synthesize
from reticent.microdata.mask.top_code import BottomCode, MultivariateTopCode, TopCode
from reticent.microdata.mask.weights_noise import NoiseOnWeights

# One line per method, in the order of its plan name.
METHODS = Registry(
    "plan",
    (
        BottomCode,
        Generalize,
        LocalSuppression,
        Massc,
        Microaggregate,
        MultiplicativeNoise,
        MultivariateTopCode,
        NewIdentifiers,
        Noise,
        NoiseOnWeights,
        Pram,
        RankSwap,
        Recode,
        RecordSwap,
        RemoveIdentifiers,
        Reorder,
        Resample,
        RoundValues,
        Safe,
        Sample,
        Shuffle,
        Swap,
        Synthesize,
        TopCode,
    ),
)
