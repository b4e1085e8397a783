"""A program: accuracy with depth of every third frame, on rendered films of known depth.

python -m benchmarks.film_every, with the folders of the tests on the path.
"""

from __future__ import annotations

import json

EVERY = 3
_FRAMES = 18
# Kinds of scene and seed.
_FILMS = ((("street",), 1), (("portrait",), 3), (("room",), 22), (("tabletop", "nature"), 21))


def main() -> None:
    import temporal_films as films  # type: ignore[import-not-found]  # of the tests

    from depthsmith.depth.temporal import SteadySettings

    found: dict[str, list[float]] = {}
    for kinds, seed in _FILMS:
        film = films.true_film(kinds, seed, _FRAMES // len(kinds))
        for errors, size in (("errors", films.TYPICAL), ("none", films.NONE)):
            depths = films.network_like(film, size, 0)
            given = {f"{errors} raw": depths}
            for name, every in (("every", 1), ("some", EVERY)):
                samples = films.samples(film, depths, every)
                done = films.steadied(samples, SteadySettings(every=every))
                given[f"{errors} {name}"] = [depth.inverse for depth in done]
            for name, inverses in given.items():
                found.setdefault(name, []).append(films.accuracy(film, inverses).abs_rel)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
