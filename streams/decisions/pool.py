"""Which active memories of a scope a candidate is set against.

First those of its slot, then in turn the best by shared words and the best by vector: neither alone finds all
(a paraphrase shares no word, a name or a number hardly moves a vector).
"""

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.candidates import Candidate
from schemas.memory import ACTIVE, Memory
from streams.decisions.words import terms

Vectors = NDArray[np.float32]

POOL_SIZE = 10


class Neighbour(NamedTuple):
    """A memory near a candidate; `cosine` is None where either has no vector of this length."""

    memory: Memory
    cosine: float | None


class Pool:
    """The active memories of one scope, ready to be searched; `dimensions` is the length of a candidate's vector.

    Built for one window and thrown away. A search of 1,000 memories takes a fraction of a millisecond.
    """

    def __init__(self, memories: Iterable[Memory], dimensions: int) -> None:
        self._dimensions = dimensions
        self._memories = [memory for memory in memories if memory.status == ACTIVE]
        self._rows: dict[str, int] = {}
        self._slots: defaultdict[str, list[int]] = defaultdict(list)
        self._postings: defaultdict[str, array[int]] = defaultdict(partial(array, "q"))
        self._vectors = _matrix(self._memories, dimensions)
        self._norms = _norms(self._vectors)
        self._lengths = np.ones(len(self._memories))
        self._live = np.ones(len(self._memories), dtype=np.bool_)
        for row, memory in enumerate(self._memories):
            self._index(row, memory)

    def put(self, memory: Memory) -> None:
        """Take in a new version of a memory, or a new memory; one that is no longer active leaves the pool."""
        row = self._rows.pop(memory.memory_id, None)
        if row is not None:
            self._live[row] = False
        if memory.status != ACTIVE:
            return
        row = len(self._memories)
        if row == len(self._live):
            self._grow()
        self._memories.append(memory)
        self._vectors[row] = _matrix([memory], self._dimensions)[0]
        self._norms[row] = _norms(self._vectors[row : row + 1])[0]
        self._live[row] = True
        self._index(row, memory)

    def nearest(self, candidate: Candidate, vector: Vectors, size: int = POOL_SIZE) -> list[Neighbour]:
        """At most `size` memories, most telling first. `vector`: float32, `dimensions` numbers; zeros for none."""
        cosines = self._cosines(vector)
        in_turn = zip_longest(_best(self._overlap(candidate.text), size), _best(cosines, size))
        same_slot = self._slots.get(candidate.slot, []) if candidate.slot else []
        rows = dict.fromkeys(chain(same_slot, (row for pair in in_turn for row in pair if row is not None)))
        known = bool(vector.any())
        return [
            Neighbour(self._memories[row], float(cosines[row]) if known and self._norms[row] else None)
            for row in islice((row for row in rows if self._live[row]), size)
        ]

    def _index(self, row: int, memory: Memory) -> None:
        self._rows[memory.memory_id] = row
        if memory.slot:
            self._slots[memory.slot].append(row)
        found = terms(memory.text)
        self._lengths[row] = max(1, len(found))
        for term in found:
            self._postings[term].append(row)

    def _grow(self) -> None:
        more = max(64, len(self._live))
        self._vectors = np.pad(self._vectors, ((0, more), (0, 0)))
        self._norms = np.pad(self._norms, (0, more))
        self._lengths = np.pad(self._lengths, (0, more), constant_values=1)
        self._live = np.pad(self._live, (0, more))

    def _cosines(self, vector: Vectors) -> NDArray[np.float64]:
        scale = self._norms * np.linalg.norm(vector)
        products = (self._vectors @ vector).astype(np.float64)
        return np.divide(products, scale, out=np.zeros(len(scale)), where=self._live & (scale > 0))

    def _overlap(self, text: str) -> NDArray[np.float64]:
        # Rare words tell more: the user's own name is in every memory
        scores = np.zeros(len(self._live))
        for term in terms(text):
            if term in self._postings:
                rows = np.frombuffer(self._postings[term], dtype=np.int64)
                scores[rows] += math.log1p(len(self._memories) / len(rows))
        # Of two that share the same words, the one that says less beside them is nearer
        return scores * self._live / np.sqrt(self._lengths)


def unified(
    candidates: Sequence[Candidate], memories: Iterable[Memory], vectors: Vectors, size: int = POOL_SIZE
) -> list[Memory]:
    """One pool for all candidates of a window (row i of `vectors` is candidate i's): at most `size` for each."""
    pool = Pool(memories, vectors.shape[1])
    found: dict[str, Memory] = {}
    for candidate, vector in zip(candidates, vectors, strict=True):
        for memory, _ in pool.nearest(candidate, vector, size):
            found.setdefault(memory.memory_id, memory)
    return list(found.values())


def _best(scores: NDArray[np.float64], size: int) -> Iterator[int]:
    found = np.flatnonzero(scores > 0)
    # Stable, so that equal scores keep the order of the memories on every machine
    yield from found[np.argsort(-scores[found], kind="stable")[:size]].tolist()


def _matrix(memories: Sequence[Memory], dimensions: int) -> Vectors:
    size = 4 * dimensions
    none = bytes(size)  # of another embedder, or without a vector
    joined = b"".join(memory.vector if len(memory.vector) == size else none for memory in memories)
    return np.frombuffer(joined, dtype="<f4").reshape(len(memories), dimensions)


def _norms(vectors: Vectors) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)), dtype=np.float64)
