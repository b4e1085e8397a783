"""How files of pairs are called, so that players know what is in them.

Headset players go by the end of a file's name. One table for the command and its
documentation; ``docs/stereo.md`` says which player reads what.
"""

from __future__ import annotations

ENDINGS: dict[str, str] = {
    "sbs": "_LRF_Full_SBS",  # LRF for Pigasus, Full_SBS for SKYBOX, SBS for DeoVR and others
    "half-sbs": "_LR",
    "tb": "_TBF_fulltb",
    "half-tb": "_TB",
    "cross-eyed": "_RLF_cross",
    "anaglyph": "_redcyan",
    "anaglyph-color": "_redcyan_color",
    "anaglyph-half-color": "_redcyan_half",
    "anaglyph-gray": "_redcyan_gray",
    "anaglyph-dubois": "_redcyan",
    "interlaced": "_interlaced",
    "vr180": "_180x180_LR",  # "VR180" would be fisheye to SKYBOX
    "fisheye180": "_F180_LR",
    "left-right": "",
    "mpo": "",
    "rgbd": "_RGBD",
    "wiggle": "_wiggle",
}
"""Format -> ending of the name, before the suffix."""

EYE_ENDINGS = ("_left", "_right")
"""Of the two files of ``left-right``."""
