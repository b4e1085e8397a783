"""The decision whether weights may be used: asked before a byte of them is fetched."""

from __future__ import annotations

from typing import Any

from depthsmith.catalog import ALLOWED_LICENSES
from depthsmith.errors import LicenseError

UNSTATED = "unknown"
"""What ``--allow-license`` has to say where neither the hub nor the catalogue has a licence."""


def stated_license(card: Any, tags: list[str] | None) -> str | None:
    """The licence in the hub's answer, lower case; None if there is none.

    ``other`` alone says nothing: the card's ``license_name`` stands for it. Several licences
    are joined with ``+``, and the gate then asks for consent to all of them.

    Args:
        card: the model card's front matter as ``huggingface_hub`` gives it, or None.
        tags: the model's tags; mirrors keep ``license:...`` there when they drop the card.
    """
    stated = getattr(card, "license", None)
    if not stated:
        stated = [tag[len("license:") :] for tag in tags or () if tag.startswith("license:")]
    ids = [stated] if isinstance(stated, str) else list(stated)
    ids = sorted({str(id).strip().lower() for id in ids} - {""})
    if ids == ["other"]:
        name = str(getattr(card, "license_name", None) or "").strip().lower()
        return name or "other"
    return "+".join(ids) or None


def check_license(
    license: str | None,
    *,
    repository: str,
    allow_license: str | None = None,
    expected_license: str | None = None,
    unasked: str = "",
) -> tuple[str, str | None]:
    """Pass, or refuse, weights under ``license``.

    Args:
        license: as the hub states it; None where it states none.
        repository: named in the message.
        allow_license: the id that the user consented to.
        expected_license: the catalogue's, for weights without a stated licence. It is used
            only with the user's consent to it.
        unasked: why the hub could not be asked; empty if it was.

    Returns:
        The licence, and the consent where one was needed, else None.

    Raises:
        LicenseError: outside of `ALLOWED_LICENSES` without consent to just this licence.
    """
    if license in ALLOWED_LICENSES:
        return license, None
    asked = license or expected_license or UNSTATED
    if allow_license is not None and allow_license.strip().lower() == asked.lower():
        return asked, asked
    if license is not None:
        facts = (
            f"{repository} is licensed under {license}, "
            f"which is not one of {', '.join(sorted(ALLOWED_LICENSES))}"
        )
    else:
        facts = f"the hub states no licence for {repository}"
        if unasked:
            facts = f"{unasked}, and no licence is recorded for the cached {repository}"
        if expected_license:
            facts += f" (it was {expected_license} when depthsmith was released)"
    if allow_license is not None:
        facts += f", and --allow-license {allow_license} is another one"
    raise LicenseError(f"{facts}; if its terms suit you, pass --allow-license {asked}")
