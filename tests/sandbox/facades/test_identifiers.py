"""``uuid`` and ``secrets``: right in form, different each time, and silent about the machine."""

import uuid
from collections.abc import Callable

from circlet.sandbox import Limits, Sandbox


def test_identifiers_work_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """Named ones are the same, and all forms of one are."""
    same_as_cpython("""
import uuid
u = uuid.UUID("12345678123456781234567812345678")
try:
    uuid.UUID("x")
except ValueError as error:
    said = str(error)
(
    str(uuid.uuid3(uuid.NAMESPACE_DNS, "a.org")), str(uuid.uuid5(uuid.NAMESPACE_URL, "b")), u.hex,
    u.int, u.urn,
    u.bytes, u.bytes_le, u.fields, u.version, u.variant, u < uuid.UUID(int=2**127), said, {u: 1}[u],
    uuid.UUID(fields=u.fields) == u, uuid.uuid4().version, uuid.uuid1().version,
    uuid.uuid4().variant,
    uuid.uuid1(node=5, clock_seq=6).node, len({uuid.uuid4() for _ in range(50)}),
)
""")


def test_random_identifiers_do_not_tell_the_machine(backend: str) -> None:
    """The node of ``uuid1`` is random, marked as such, and another one in each session."""
    nodes = []
    for _ in range(2):
        with Sandbox(backend=backend, limits=Limits()) as box:
            run = box.run("import uuid\n(uuid.uuid1().node, uuid.uuid1().node, uuid.getnode())")
            assert len(set(run.value)) == 1, str(run)
            nodes.append(run.value[0])
    assert uuid.getnode() not in nodes
    assert nodes[0] != nodes[1]
    assert all(node >> 40 & 1 for node in nodes)


def test_secrets_differ_between_sessions(backend: str) -> None:
    """Workers come from one process, and share none of their randomness."""
    seen = set()
    for _ in range(3):
        with Sandbox(backend=backend) as box:
            run = box.run("""
import secrets
assert 0 <= secrets.randbelow(5) < 5 and secrets.choice([1]) == 1 and secrets.randbits(3) < 8
assert secrets.compare_digest(b"a", b"a") and len(secrets.token_bytes(7)) == 7
assert secrets.SystemRandom().random() < 1 and secrets.token_urlsafe(4)
secrets.token_hex(16)
""")
            assert len(run.value) == 32, str(run)
            seen.add(run.value)
    assert len(seen) == 3
