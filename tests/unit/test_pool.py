import numpy as np
from msgspec.structs import replace

from schemas.memory import SUPERSEDED, Memory
from streams.decisions.pool import Pool, unified
from tests.resolving import Scope, no_vectors, said

NONE = np.zeros(0, dtype=np.float32)


def known(*texts: str, vectors: list[list[float]] | None = None) -> list[Memory]:
    scope = Scope()
    scope.hear(*(said(text, slot=f"lin|{row}") for row, text in enumerate(texts)))
    memories = list(scope.memories.values())
    for memory, vector in zip(memories, vectors or [], strict=False):
        memory.vector = np.array(vector, dtype="<f4").tobytes()
    return memories


def test_the_memory_of_the_same_slot_comes_first_though_it_shares_no_word() -> None:
    pool = Pool(known("Lin likes green tea", "Home: Bergen", "Lin drinks green tea"), 0)
    near = pool.nearest(said("Lin drinks green tea at noon", slot="lin|1"), NONE)
    assert near[0].memory.text == "Home: Bergen"
    assert {neighbour.memory.text for neighbour in near[1:]} == {"Lin likes green tea", "Lin drinks green tea"}


def test_chinese_sentences_meet_by_bigrams() -> None:
    pool = Pool(known("林浩住在上海浦东", "林浩养了一只猫"), 0)
    assert pool.nearest(said("她在上海浦东上班"), NONE)[0].memory.text == "林浩住在上海浦东"


def test_words_and_vectors_take_turns_so_that_neither_crowds_the_other_out() -> None:
    memories = known(
        "green tea", "green tea cup", "green tea pot", "a warm drink", vectors=[[0, 1], [0, 1], [0, 1], [1, 0]]
    )
    near = Pool(memories, 2).nearest(said("green tea"), np.array([2, 0], dtype=np.float32), size=2)
    assert [neighbour.memory.text for neighbour in near] == ["green tea", "a warm drink"]
    assert near[1].cosine == 1.0


def test_a_pool_never_holds_more_than_its_size_and_nothing_superseded() -> None:
    memories = known(*(f"Lin saw film {number}" for number in range(30)))
    gone = [replace(memory, status=SUPERSEDED) for memory in memories[:25]]
    pool = Pool([*gone, *memories[25:]], 0)
    assert len(pool.nearest(said("Lin saw a film"), NONE, size=3)) == 3
    assert len(pool.nearest(said("Lin saw a film"), NONE, size=10)) == 5


def test_a_memory_put_in_is_found_and_one_that_lost_its_place_is_not() -> None:
    (memory,) = known("Lin lives in Oslo", vectors=[[1, 0]])
    pool = Pool([], 2)
    for number in range(200):
        pool.put(replace(memory, memory_id=f"m{number}"))
    for number in range(199):
        pool.put(replace(memory, memory_id=f"m{number}", status=SUPERSEDED))
    near = pool.nearest(said("Oslo"), np.array([1, 0], dtype=np.float32), size=500)
    assert [(neighbour.memory.memory_id, neighbour.cosine) for neighbour in near] == [("m199", 1.0)]


def test_vectors_of_another_length_do_not_count() -> None:
    memories = known("Lin lives in Oslo", vectors=[[1, 0, 0]])
    (near,) = Pool(memories, 2).nearest(said("Oslo"), np.array([1, 0], dtype=np.float32))
    assert near.cosine is None


def test_a_windows_candidates_share_one_pool_without_repeats() -> None:
    memories = known("Lin likes tea", "Lin has a cat", "Ana lives in Rome")
    candidates = [said("Lin likes black tea"), said("Lin likes cold tea"), said("Rome")]
    found = unified(candidates, memories, no_vectors(3), size=1)
    assert [memory.text for memory in found] == ["Lin likes tea", "Ana lives in Rome"]
