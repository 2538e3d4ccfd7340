"""The compiled kernels of Brown clustering, and the window of clusters they work on. See `hyperspan.features.brown`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.compiled.kernel import kernel

NEVER = np.iinfo(np.int64).max
LOWEST = np.iinfo(np.int64).min

Ints = npt.NDArray[np.int64]


def log_bits(total: int) -> int:
    """Return how many fractional bits a logarithm can have so that sums of losses fit into 64 bits."""
    largest = 16.0 * max(total, 2) * math.log(max(total, 2))
    return min(40, 62 - math.ceil(math.log2(largest)))


class Window(NamedTuple):
    """The clusters so far, each in a slot. Slots without a cluster are all zeros.

    ``pairs[a, b]`` is how often b follows a, and ``turned`` is its transpose. ``left_total`` and ``right_total`` count
    a cluster's pairs in the whole text, ``left_seen`` and ``right_seen`` those with clusters of the window.

    The loss of merging a < b is ``core[b, a]``, which depends on common neighbours, plus what `_loss` adds for row and
    column sums; ``own`` is a cluster's share of those without any merger. ``least[b]`` is the least loss in row b and
    ``partner[b]`` its column; if ``stale[b]``, ``least[b]`` is only a lower bound. ``parent`` joins words into trees;
    ``slot_of`` is the slot of a root and ``root_of`` the root of a slot. ``free`` has the next slot to fill, and
    ``gain`` is scratch space.
    """

    pairs: npt.NDArray[np.int32]
    turned: npt.NDArray[np.int32]
    left_total: Ints
    right_total: Ints
    left_seen: Ints
    right_seen: Ints
    own: Ints
    active: npt.NDArray[np.bool_]
    core: Ints
    least: Ints
    partner: Ints
    stale: npt.NDArray[np.bool_]
    parent: Ints
    slot_of: Ints
    root_of: Ints
    free: Ints
    log: Ints
    scale: float
    gain: Ints


@kernel
def _log(window, x):
    if x < window.log.shape[0]:
        return window.log[x]
    return _integer_log(x, window.scale)


@kernel
def _integer_log(x, scale):
    return np.int64(math.floor(math.log(x) * scale + 0.5))


@kernel
def log_kernel(log, scale):
    """Fill ``log[x]`` with log x in units of 1 / ``scale``, and 0 for x = 0."""
    for x in range(1, log.shape[0]):
        log[x] = _integer_log(x, scale)


@kernel
def _f(window, x):
    return x * _log(window, x)


@kernel
def grow_kernel(window, first_right, right, right_count, first_left, left, left_count, merges, first, last):
    """Add words ``first`` to ``last`` - 1 of `Bigrams`; write the merged slots to ``merges`` (n_words, 2)."""
    n_slots = window.pairs.shape[0]
    for word in range(first, last):
        slot = window.free[0]
        window.root_of[slot] = word
        window.slot_of[word] = slot
        for k in range(first_right[word], first_right[word + 1]):
            window.left_total[slot] += right_count[k]
            if right[k] <= word:
                other = window.slot_of[_root(window.parent, right[k])]
                window.pairs[slot, other] += right_count[k]
                window.turned[other, slot] += right_count[k]
        for k in range(first_left[word], first_left[word + 1]):
            window.right_total[slot] += left_count[k]
            if left[k] < word:
                other = window.slot_of[_root(window.parent, left[k])]
                window.pairs[other, slot] += left_count[k]
                window.turned[slot, other] += left_count[k]
        _add(window, slot)
        if word + 1 < n_slots:
            window.free[0] = word + 1
        else:
            kept, gone = _best(window)
            _merge(window, kept, gone)
            window.free[0] = gone
            merges[word, 0], merges[word, 1] = kept, gone


@kernel
def tree_kernel(window, merges):
    """Merge the pair with the least loss ``len(merges)`` times; write the slots to ``merges``."""
    for step in range(merges.shape[0]):
        kept, gone = _best(window)
        _merge(window, kept, gone)
        merges[step, 0], merges[step, 1] = kept, gone


@kernel
def slots_kernel(window, slots):
    """Write the slot of every word to ``slots``."""
    for word in range(slots.shape[0]):
        slots[word] = window.slot_of[_root(window.parent, word)]


@kernel
def information_kernel(window, total):
    """Return Σ n(c, d) log(n(c, d) N / (l(c) r(d))) over the window, in units of 1 / scale."""
    result = 0
    for a in range(window.pairs.shape[0]):
        if not window.active[a]:
            continue
        for b in range(window.pairs.shape[0]):
            if window.pairs[a, b]:
                result += _f(window, np.int64(window.pairs[a, b]))
        result += window.left_seen[a] * (_log(window, total) - _log(window, window.left_total[a]))
        result -= window.right_seen[a] * _log(window, window.right_total[a])
    return result


@kernel
def _root(parent, word):
    while parent[word] != word:
        parent[word] = parent[parent[word]]
        word = parent[word]
    return word


@kernel
def _loss(window, b, a):
    return (
        window.core[b, a]
        + (window.left_seen[a] + window.left_seen[b]) * _log(window, window.left_total[a] + window.left_total[b])
        + (window.right_seen[a] + window.right_seen[b]) * _log(window, window.right_total[a] + window.right_total[b])
        - window.own[a]
        - window.own[b]
    )


@kernel
def _see(window, a, left, right):
    # Count further pairs with clusters of the window.
    window.left_seen[a] += left
    window.right_seen[a] += right
    window.own[a] = window.left_seen[a] * _log(window, window.left_total[a]) + window.right_seen[a] * _log(
        window, window.right_total[a]
    )


@kernel
def _set(window, b, a, core):
    window.core[b, a] = core
    if window.least[b] == LOWEST:
        return
    loss = _loss(window, b, a)
    if loss < window.least[b] or (loss == window.least[b] and a < window.partner[b]):
        window.least[b] = loss
        window.partner[b] = a
    elif a == window.partner[b] and loss > window.least[b]:
        window.stale[b] = True


@kernel
def _change(window, a, b, by):
    if a < b:
        _set(window, b, a, window.core[b, a] + by)
    else:
        _set(window, a, b, window.core[a, b] + by)


@kernel
def _add(window, slot):
    """Make a cluster of the counts in ``slot`` and update the losses of all pairs."""
    n_slots = window.pairs.shape[0]
    # More pairs can only raise the losses of a neighbour's mergers, so the old minimum is still a lower bound.
    for a in range(n_slots):
        if window.pairs[slot, a] or window.turned[slot, a]:
            if a != slot:
                _see(window, a, window.turned[slot, a], window.pairs[slot, a])
            window.stale[a] = True
    for b in range(n_slots):
        a = window.partner[b]
        if a >= 0 and (window.pairs[slot, a] or window.turned[slot, a]):
            window.stale[b] = True
    _see(window, slot, window.pairs[slot].sum(), window.turned[slot].sum())
    window.active[slot] = True
    _share(window, window.turned[slot], slot)
    _share(window, window.pairs[slot], slot)
    _fill(window, slot)


@kernel
def _share(window, new, slot):
    # Any two clusters that have the new one as a neighbour lose less by merging.
    found = np.flatnonzero(new)
    for i in range(found.shape[0]):
        a, x = found[i], np.int64(new[found[i]])
        if a == slot:
            continue
        f_x = _f(window, x)
        for j in range(i):
            if found[j] != slot:
                y = np.int64(new[found[j]])
                _change(window, a, found[j], f_x + _f(window, y) - _f(window, x + y))


@kernel
def _fill(window, slot):
    """Compute the losses of all pairs with ``slot`` from their counts."""
    n_slots = window.pairs.shape[0]
    gain = window.gain
    gain[:] = 0
    for k in range(n_slots):
        _gain(window, np.int64(window.pairs[slot, k]), window.turned[k], gain)
        _gain(window, np.int64(window.turned[slot, k]), window.pairs[k], gain)
    own = np.int64(window.pairs[slot, slot])
    f_own = _f(window, own)
    for other in range(n_slots):
        if other == slot or not window.active[other]:
            continue
        core = -gain[other]
        # The two are neighbours of themselves and of each other: four counts become one, not twice two.
        there, back = np.int64(window.pairs[slot, other]), np.int64(window.turned[slot, other])
        its = np.int64(window.pairs[other, other])
        if there or back or (own and its):
            core += (
                _f(window, own + back)
                + _f(window, there + its)
                + _f(window, own + there)
                + _f(window, back + its)
                - f_own
                - _f(window, there)
                - _f(window, back)
                - _f(window, its)
                - _f(window, own + there + back + its)
            )
        if other < slot:
            window.core[slot, other] = core
        else:
            _set(window, other, slot, core)
    window.stale[slot] = True
    window.least[slot] = LOWEST
    window.partner[slot] = -1


@kernel
def _gain(window, x, counts, gain):
    if x == 0:
        return
    f_x = _f(window, x)
    for other in range(counts.shape[0]):
        y = np.int64(counts[other])
        if y:
            gain[other] += _f(window, x + y) - f_x - _f(window, y)


@kernel
def _best(window):
    """Return the pair of slots with the least loss, and the lowest slots in case of a tie."""
    n_slots = window.pairs.shape[0]
    least = NEVER
    for b in range(n_slots):
        if window.active[b] and not window.stale[b]:
            least = min(least, window.least[b])
    for b in range(n_slots):
        if window.active[b] and window.stale[b] and window.least[b] <= least:
            _refresh(window, b)
            least = min(least, window.least[b])
    kept, gone = n_slots, n_slots
    for b in range(n_slots):
        if window.active[b] and not window.stale[b] and window.least[b] == least and window.partner[b] < kept:
            kept, gone = window.partner[b], b
    return kept, gone


@kernel
def _refresh(window, b):
    least, partner = NEVER, -1
    for a in range(b):
        if window.active[a]:
            loss = _loss(window, b, a)
            if loss < least:
                least, partner = loss, a
    window.least[b] = least
    window.partner[b] = partner
    window.stale[b] = False


@kernel
def _merge(window, kept, gone):
    """Merge the cluster in slot ``gone`` into the one in ``kept`` < ``gone`` and update the losses of all pairs."""
    n_slots = window.pairs.shape[0]
    _join(window, window.pairs[kept], window.pairs[gone], kept, gone)
    _join(window, window.turned[kept], window.turned[gone], kept, gone)
    _move(window.pairs, window.turned, kept, gone)
    _move(window.turned, window.pairs, kept, gone)
    for of in (window.left_total, window.right_total, window.left_seen, window.right_seen):
        of[kept] += of[gone]
        of[gone] = 0
    _see(window, kept, 0, 0)
    window.active[gone] = False
    for b in range(n_slots):
        if window.partner[b] == gone or window.partner[b] == kept:
            window.stale[b] = True
    window.parent[window.root_of[gone]] = window.root_of[kept]
    _fill(window, kept)


@kernel
def _move(count, turned, kept, gone):
    # Rows of one matrix are columns of the other.
    for k in range(count.shape[0]):
        if count[gone, k]:
            count[kept, k] += count[gone, k]
            turned[k, kept] = count[kept, k]
            count[gone, k] = 0
            turned[k, gone] = 0


@kernel
def _join(window, counts, more, kept, gone):
    # Two clusters that had ``kept`` and ``gone`` as neighbours now have one neighbour instead. Nothing changes for a
    # pair in which neither is adjacent to the rarer of the two, so the loop runs over those that are.
    n_slots = counts.shape[0]
    n_counts, n_more = 0, 0
    for k in range(n_slots):
        n_counts += counts[k] != 0
        n_more += more[k] != 0
    if n_counts < n_more:
        counts, more = more, counts
    union = np.empty(n_slots, dtype=np.int64)
    own = np.empty(n_slots, dtype=np.int64)
    n_union = 0
    for rare in (True, False):
        for k in range(n_slots):
            if k != kept and k != gone and (more[k] != 0) == rare and (rare or counts[k] != 0):
                union[n_union] = k
                x, y = np.int64(counts[k]), np.int64(more[k])
                own[n_union] = _f(window, x + y) - _f(window, x) - _f(window, y)
                n_union += 1
    i = 0
    while i < n_union and more[union[i]] != 0:
        a = union[i]
        x, x_more = np.int64(counts[a]), np.int64(more[a])
        for j in range(i + 1, n_union):
            b = union[j]
            y, y_more = np.int64(counts[b]), np.int64(more[b])
            by = own[i] + own[j] + _f(window, x + y) + _f(window, x_more + y_more) - _f(window, x + x_more + y + y_more)
            if by:
                _change(window, a, b, by)
        i += 1
