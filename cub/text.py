"""Format what messages of every package have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

UP_TO_DATE = "Already up to date."


def join_first(names: Sequence[str], most: int = 5, separator: str = ", ") -> str:
    """Name the first of several things for a message, and say how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def find_first_line(text: str) -> str:
    """Return the first line that says something, without spaces around it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def truncate_text(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text; … is the last one if there were more."""
    return text if len(text) <= limit else text[: limit - 1] + "…" if limit else ""


def cut_middle(text: str, max_chars: int) -> str:
    """Return both ends of a text that is too long, around a line that counts the rest."""
    half, omitted = max_chars // 2, len(text) - max_chars
    if omitted <= 0:
        return text
    return f"{text[:half]}\n… {omitted:,} characters left out …\n{text[half + omitted :]}"


def describe_os_error(error: OSError) -> str:
    """Say why a system call failed, as a part of a sentence."""
    return (error.strerror or str(error)).lower()


def append_hint(message: str, hint: str) -> str:
    """Return a message with its hint on the same line; alone if the hint is ""."""
    return message + f" (hint: {hint})" * bool(hint)


def suggest_similar(key: str, candidates: Iterable[str]) -> str:
    """Return the known key that `key` may be a misspelling of, "" if none is near."""
    return next(iter(list_similar(key, candidates, 1)), "")


def suggest_known(key: str, known: Iterable[str]) -> str:
    """Return a hint with the known key that is similar, or with all of them; "" for none."""
    known = list(known)
    if not known:
        return ""
    similar = suggest_similar(key, known)
    return f"did you mean {similar}?" if similar else f"choose from {', '.join(known)}"


def list_similar(
    key: str, candidates: Iterable[str], limit: int = 3, likeness: float = 0.6
) -> list[str]:
    """Return at most `limit` known keys that `key` may be a misspelling of, the nearest first.

    `likeness` is the least ratio that counts, from 0 to 1.
    """
    from difflib import get_close_matches

    names = {name.replace("_", "-"): name for name in candidates}
    found = get_close_matches(key.replace("_", "-"), names, limit, likeness)
    return [names[near] for near in found]
