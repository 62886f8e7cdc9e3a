"""A message's content as text and attachments, whichever client library's shape it comes in."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.inbox import Attachment
from streams.messages.refused import Refused, shown

URL_CHARS = 2048
"""A longer link, or a `data:` one, is a payload: the attachment keeps its name and type without it."""

_TEXT = frozenset({"text", "input_text", "output_text"})
_ATTACHED = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "file": "file",
    "input_file": "file",
    "document": "file",
}


def read(content: object) -> tuple[str, list[Attachment]]:
    """Text parts joined by line breaks, and what was attached.

    Parts of another type are left out. Raises Refused where nothing else is there, and for content
    that is neither text nor a list of parts.
    """
    if isinstance(content, str):
        return clean(content), []
    if not isinstance(content, list):
        raise Refused("content is missing" if content is None else "content is neither text nor a list of parts")
    texts: list[str] = []
    attachments: list[Attachment] = []
    unknown: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str):
            unknown.append("untyped")
        elif kind in _TEXT and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in _ATTACHED:
            attachments.append(_attachment(_ATTACHED[kind], part))
        else:
            unknown.append(kind)
    if not texts and not attachments:
        found = ", ".join(shown(kind) for kind in dict.fromkeys(unknown)) or "an empty list"
        raise Refused(f"no part of content is text, image or file: {found[:200]}")
    return clean("\n".join(texts)), attachments


def clean(text: str) -> str:
    """Text that every encoder takes: NUL characters removed, lone surrogates replaced, pairs joined."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _attachment(kind: str, part: Mapping[str, Any]) -> Attachment:
    """Ours has `url`, `name`, `media_type` in the part itself; others nest them one level deeper."""
    url = name = media_type = None
    for level in _levels(part):
        url = url or _string(level, "url", "file_url")
        name = name or _string(level, "name", "filename", "title")
        media_type = media_type or _string(level, "media_type", "mime_type")
    if url is None:
        url = next((part[key] for key in ("image_url", "source") if isinstance(part.get(key), str)), None)
    if url is not None and (len(url) > URL_CHARS or url[:5].lower() == "data:"):
        media_type = media_type or _type_of(url)
        url = None
    return Attachment(
        type=kind,
        url=url and clean(url),
        name=name and clean(name)[:512],
        media_type=media_type and clean(media_type)[:128],
    )


def _levels(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield part
    for key in ("image_url", "file", "source"):
        nested = part.get(key)
        if isinstance(nested, Mapping):
            yield nested


def _string(level: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = level.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def _type_of(url: str) -> str | None:
    head = url[5:133].partition(",")[0].partition(";")[0]
    return head if url[:5].lower() == "data:" and "/" in head else None
