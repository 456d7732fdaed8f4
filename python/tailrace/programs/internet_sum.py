"""The Internet checksum (RFC 1071)."""


def internet_sum(data: bytes) -> int:
    """Of data whose own sum is zero."""
    total = sum(
        int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big") for at in range(0, len(data), 2)
    )
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
