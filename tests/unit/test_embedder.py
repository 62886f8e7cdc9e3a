from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from prompts.embedder import BATCH, LONGEST, Embedder, UniversalSentenceEmbedder


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return UniversalSentenceEmbedder()


def test_one_meaning_in_two_languages_is_nearer_than_two_meanings(embedder: Embedder) -> None:
    english, chinese, other = embedder.embed(
        ["I like drinking tea in the morning", "我喜欢早上喝茶", "服务器昨天晚上宕机了"]
    )
    assert english @ chinese > 0.6
    assert english @ chinese > max(english @ other, chinese @ other) + 0.3


def test_vectors_are_float32_of_length_one_whatever_the_text(embedder: Embedder) -> None:
    vectors = embedder.embed(["tea", "", " ", "。", "😀", "\x00", "a \ud800 b", "x" * (LONGEST * 50)])
    assert vectors.shape == (8, embedder.dimensions) == (8, 512)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, 512)


def test_a_text_has_one_vector_in_any_batch_and_any_thread(embedder: Embedder) -> None:
    texts = [f"Lin has lived at number {n} for {n} years" for n in range(BATCH + 3)]
    together = embedder.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        apart = np.concatenate(list(pool.map(lambda n: embedder.embed([texts[n]]), [0, 7, BATCH, BATCH + 2])))
    assert np.allclose(together[[0, 7, BATCH, BATCH + 2]], apart, atol=1e-5)


def test_four_threads_may_ask_for_the_first_vector_at_once() -> None:
    fresh = UniversalSentenceEmbedder()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(fresh.embed, [["tea"]] * 4))
    assert all(np.array_equal(rows[0], row) for row in rows)
