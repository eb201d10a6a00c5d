"""Which network addresses are public: what ``fetch`` may connect to."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether a numeric address lies on the public internet.

    Loopback, private, link-local, multicast and reserved ranges don't, nor does an IPv6
    address that stands for such an IPv4 one (mapped, 6to4, Teredo or NAT64).
    """
    whole = ipaddress.ip_address(address)
    return all(map(_plain_public, (whole, *_embedded(whole))))


def _embedded(address: _Address) -> Iterator[_Address]:
    """The IPv4 addresses that traffic to an IPv6 address may end at."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in _NAT64:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _plain_public(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return True  # the address that it stands for decides
        if address.is_site_local:
            return False
    # NAT64's prefix counts as reserved, though it is routed; what it stands for decides.
    reserved = address.is_reserved and address not in _NAT64
    return address.is_global and not address.is_multicast and not reserved
