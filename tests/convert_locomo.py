"""Turns LoCoMo conversations (the dataset's JSON file) into memweir's JSON lines.

Usage: python tests/convert_locomo.py locomo.json > chat.jsonl

Each conversation is a group room of two; a turn is a `user` message of its speaker, a minute after the one before.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any


def messages(samples: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One gateway message a turn, in order of session and turn. Raises KeyError or ValueError on another format."""
    for sample in samples:
        conversation = sample["conversation"]
        number = 1
        while (session := f"session_{number}") in conversation:
            started = datetime.strptime(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(
                tzinfo=UTC
            )
            for minute, turn in enumerate(conversation[session]):
                yield {
                    "tenant": "locomo",
                    "scope_kind": "team",
                    "scope_id": sample["sample_id"],
                    "session_id": session,
                    "message_id": f"{sample['sample_id']}:{turn['dia_id']}",
                    "role": "user",
                    "speaker": turn["speaker"],
                    "content": turn["text"],
                    "sent_at": (started + timedelta(minutes=minute)).isoformat(),
                    "time_zone": "UTC",
                }
            number += 1


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for message in messages(json.loads(Path(sys.argv[1]).read_text("utf-8"))):
        print(json.dumps(message, ensure_ascii=False))


if __name__ == "__main__":
    main()
