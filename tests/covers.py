"""Covers of any backend as flags, and flags as covers, through the methods of the protocol."""

import numpy as np


def flags_of(backend, cover):
    """Return for each record whether it lies in a cover."""
    single = [backend.pick(backend.everything, np.array([k])) for k in range(backend.n_records)]
    return backend.sizes_within(single, cover).astype(bool)


def cover_of(backend, flags):
    """Return the cover of the records whose flag is set."""
    return backend.pick(backend.everything, np.flatnonzero(flags))
