"""Why an object can't go into an image, or an image not into a session: the worker's own errors."""

from __future__ import annotations


class Unfit(Exception):
    """An object that can't go into an image; the text says why, and what to do instead."""


class Unloadable(Exception):
    """An image that this session can't take; the text says why, and what to do instead."""


class TooLarge(Exception):
    """An image that would take more room than there is."""
