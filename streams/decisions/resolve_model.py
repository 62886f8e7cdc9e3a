"""What the policy `conflict` needs around its model call: which texts its verdicts leave, to be embedded."""

from collections.abc import Iterable

from prompts.verdict import Verdict
from schemas.candidates import Candidates
from schemas.memory import MERGE, UPDATE


def texts(candidates: Candidates, verdicts: Iterable[Verdict] = ()) -> list[str]:
    """The text that each candidate's memory will have, in order: what row i of the vectors must be the vector of.

    Without verdicts: the candidates' own texts. The first verdict of a candidate counts, as in `build_record`.
    """
    found = [candidate.text for scene in candidates.scenes for candidate in scene.candidates]
    seen: set[int] = set()
    for verdict in verdicts:
        if verdict.index in seen or not 0 <= verdict.index < len(found):
            continue
        seen.add(verdict.index)
        if verdict.action in (UPDATE, MERGE) and verdict.text:
            found[verdict.index] = verdict.text
    return found
