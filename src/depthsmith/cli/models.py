"""``depthsmith models``: what is known, under which licence, and what is here."""

from __future__ import annotations

import json

from depthsmith.cli import console
from depthsmith.cli.options import Json


def models(as_json: Json = False) -> None:
    """List the known models, their licences, and which are here."""
    from depthsmith.model_store import known_models

    known = known_models()
    if as_json:
        records = [
            {
                "name": model.card.name,
                "title": model.card.title,
                "repository": model.card.repository,
                "license": model.license,
                "permissive": model.permissive,
                "kind": model.card.kind.value,
                "unit": model.card.kind.unit,
                "weights": None if model.weights is None else str(model.weights),
                "size_bytes": model.size_bytes,
            }
            for model in known
        ]
        console.say(json.dumps(records, indent=2))
        return
    rows = [
        (
            model.card.name,
            model.license if model.permissive else f"{model.license} *",
            model.card.kind.value,
            "-" if model.size_bytes is None else f"{model.size_bytes / 1e6:.0f} MB",
            model.card.repository,
        )
        for model in known
    ]
    console.say(console.table(("NAME", "LICENSE", "KIND", "HERE", "REPOSITORY"), rows))
    console.say("")
    console.say("* not permissive: needs `--allow-license ID`")
