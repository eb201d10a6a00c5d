"""Durable images of sessions, as their host handles them: an envelope round what a worker wrote.

The envelope says what the image was made by and with, and is signed with a key of the user's.
What is in it is opaque here: a program could have made it up. Only a fresh worker reads it,
behind its walls.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.metadata
import os
import platform
import secrets
import stat
import struct
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ..codec import dumps, loads
from ..errors import CodecError, ImageError, ImageMismatch, UntrustedImage
from ..limits import MAX_IMAGE, Limits

KEY_FILE = "CIRCLET_IMAGE_KEY_FILE"
"""The environment variable that names another file for the key."""
MAGIC = b"\x89circlet image\r\n"
_FORMAT = 1
_LENGTH = struct.Struct(">I")
_MAX_HEADER = 16 << 20
_TAG_BYTES = _KEY_BYTES = 32
_UNSIGNED = bytes(_TAG_BYTES)
_MOST_TURNS = 1 << 31
_POLICY = (
    "classes compiling guards names patterns policy receivers scopes specials symbols "
    "images/names images/own_classes images/own_functions images/own_objects images/pickling "
    "images/shapes images/sources images/unpickling images/values"
).split()
"""The modules that say what an image's code may do, and how the rest of it is read."""


@dataclass(frozen=True)
class Image:
    """A session's state, and what has to be known to take it up again.

    Attributes:
        body: What its worker wrote.
        backend: The back end that it ran on.
        limits: The session's; modules and packages likewise.
        gates: Names of its gates.
        turns: How many turns it had run.
        left_out: Variables that could not be kept, each with the reason.
    """

    body: bytes = field(repr=False)
    backend: Literal["kernel", "portable", ""]
    limits: Limits
    modules: tuple[str, ...] | None
    packages: tuple[str, ...]
    gates: tuple[str, ...]
    turns: int
    left_out: Mapping[str, str]


def pack(image: Image) -> bytes:
    """The image in its envelope, signed unless it comes from the ``portable`` back end.

    Raises:
        ImageError: It is too large, or the user's key can't be used.
    """
    if len(image.body) > MAX_IMAGE:
        raise ImageError(f"an image has at most {MAX_IMAGE:,} bytes, and this {len(image.body):,}")
    header = dumps(
        {
            "versions": _versions(),
            "backend": image.backend,
            "limits": asdict(image.limits),
            "modules": None if image.modules is None else list(image.modules),
            "packages": list(image.packages),
            "gates": list(image.gates),
            "turns": image.turns,
            "left_out": dict(image.left_out),
            "body": hashlib.sha256(image.body).digest(),
        }
    )
    head = MAGIC + _LENGTH.pack(len(header)) + header
    tag = _UNSIGNED if image.backend == "portable" else _tag(head)
    return b"".join((head, tag, image.body))


def unpack(data: bytes | bytearray | memoryview, trust: bool = False) -> Image:
    """The image in an envelope.

    Args:
        data: The envelope's bytes.
        trust: Whether to take an image that this user's key has not signed.

    Raises:
        UntrustedImage: This user's key has not signed it.
        ImageMismatch: It was made by other versions.
        ImageError: It is no image, is damaged, or the user's key can't be used.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"an image is bytes, as dump() gave them, not {type(data).__name__}")
    view = memoryview(data).cast("B")
    start = len(MAGIC) + _LENGTH.size
    if view[: len(MAGIC)] != MAGIC or len(view) < start:
        raise ImageError("this is no image of a session: dump() makes one")
    length = _LENGTH.unpack_from(view, len(MAGIC))[0]
    end = start + length
    body = bytes(view[end + _TAG_BYTES :])
    if length > _MAX_HEADER or len(view) < end + _TAG_BYTES or len(body) > MAX_IMAGE:
        raise ImageError("the image is damaged: its parts are not of the lengths that it says")
    if not trust:
        _check_signature(bytes(view[:end]), bytes(view[end : end + _TAG_BYTES]))
    return _image(bytes(view[start:end]), body)


def _image(header: bytes, body: bytes) -> Image:
    try:
        values = loads(header, guarded=True)
        versions, digest = values["versions"], values["body"]
        if type(versions) is not dict or type(digest) is not bytes:
            raise TypeError("its versions or its digest")
        _check_versions(versions)
        if not hmac.compare_digest(digest, hashlib.sha256(body).digest()):
            raise ImageError("the image is damaged: its content is not what it says")
        return Image(
            body=body,
            backend=_one_of(values["backend"], "kernel", "portable"),
            limits=Limits(**values["limits"]),
            modules=None if values["modules"] is None else _texts(values["modules"]),
            packages=_texts(values["packages"]),
            gates=_texts(values["gates"]),
            turns=_count(values["turns"]),
            left_out=MappingProxyType(dict(zip(*_pairs(values["left_out"]), strict=True))),
        )
    except (CodecError, KeyError, TypeError, ValueError) as error:
        raise ImageError(f"the image is damaged: its header can't be read: {error}") from None


def _texts(values: Any) -> tuple[str, ...]:
    if type(values) is not list or not all(type(value) is str for value in values):
        raise TypeError("a list of texts is wanted")
    return tuple(values)


def _pairs(values: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if type(values) is not dict:
        raise TypeError("a mapping of texts is wanted")
    return _texts(list(values)), _texts(list(values.values()))


def _one_of(value: Any, *known: Any) -> Any:
    if value not in known:
        raise ValueError(f"it must be one of {', '.join(known)}")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_TURNS:
        raise ValueError("a number of turns is wanted")
    return value


# -- versions ------------------------------------------------------------------------------------


def versions() -> Mapping[str, str]:
    """What an image that is made now is bound to, each by its version."""
    return _versions()


@cache
def _versions() -> Mapping[str, str]:
    """What an image is bound to, each by its version."""
    return {
        "format": str(_FORMAT),
        "Python": f"{platform.python_implementation()} {sys.version_info[0]}.{sys.version_info[1]}",
        "circlet": importlib.metadata.version("circlet"),
        "RestrictedPython": importlib.metadata.version("RestrictedPython"),
        "policy": _policy_digest(),
    }


def _policy_digest() -> str:
    digest = hashlib.sha256()
    rooms = Path(__file__).parents[1]
    for name in _POLICY:
        digest.update((rooms / f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]


def _check_versions(found: Mapping[Any, Any]) -> None:
    for name, version in _versions().items():
        if found.get(name) != version:
            raise ImageMismatch(
                f"the image was made with {name} {found.get(name)}, and this is {name} {version}; "
                "run its session's turns again, or load it where it was made"
            )


# -- the user's key ------------------------------------------------------------------------------


def _tag(head: bytes) -> bytes:
    return hmac.digest(_key(), head, "sha256")


def _check_signature(head: bytes, tag: bytes) -> None:
    if tag == _UNSIGNED:
        raise UntrustedImage(
            "the image is not signed, as none is that the portable back end made: whoever could "
            "write to it may have changed its code; load(image, trust=True) takes it all the same"
        )
    if not hmac.compare_digest(tag, _tag(head)):
        raise UntrustedImage(
            "the image is not signed with this user's key: it was made by somebody else, or "
            "changed; load(image, trust=True) takes it all the same"
        )


def key_path() -> Path:
    """The file that holds the key: among the user's own data, or as ``KEY_FILE`` says."""
    if named := os.environ.get(KEY_FILE):
        return Path(named)
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "circlet" / "image.key"


def _key() -> bytes:
    """The user's key, which is made when it is first wanted.

    Raises:
        ImageError: It can't be made or read, or others could have read or written it.
    """
    path = key_path()
    try:
        if not path.exists():
            _make_key(path)
        return _read_key(path)
    except OSError as error:
        raise ImageError(
            f"the key that images are signed with can't be had: {error}; set {KEY_FILE} to a file "
            "of your own"
        ) from None


def _make_key(path: Path) -> None:
    """Write a new key, whole or not at all; one that is there meanwhile stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(new, path)
        except FileExistsError:
            return
    finally:
        new.unlink(missing_ok=True)


def _read_key(path: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # or a named pipe would be waited for
    with open(os.open(path, flags), "rb") as file:
        seen = os.fstat(file.fileno())
        if not stat.S_ISREG(seen.st_mode):
            raise ImageError(f"the key file {path} is no plain file")
        if hasattr(os, "geteuid"):
            if seen.st_uid != os.geteuid():
                raise ImageError(f"the key file {path} belongs to another user; set {KEY_FILE}")
            if seen.st_mode & 0o077:
                raise ImageError(f"the key file {path} is open to others: chmod 600 {path}")
        key = file.read(_KEY_BYTES + 1)
    if len(key) != _KEY_BYTES:
        raise ImageError(f"the key file {path} holds no key of {_KEY_BYTES} bytes; delete it")
    return key
