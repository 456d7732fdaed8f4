"""Presets of requests: sizes, protocol and pipelining of common services. Every key of a workload
overrides its preset.

Marks of figures: [S] in the source named, [D] derived from it, [A] assumed.
"""

from dataclasses import dataclass
from typing import Literal

from tailrace.scenario.text.distribution import Distribution, parse_distribution
from tailrace.scenario.text.units import SIZE
from tailrace.scenario.workloads import ports

PresetName = Literal["http", "redis", "dns", "mq-publish", "mq-confirm", "mq-consume"]
MESSAGE_BYTES = 1024
"""Body of a message [A]; range 12 B (the default of RabbitMQ's PerfTest) to 64 kB."""
AMQP_FRAME_BYTES = 8
"""AMQP 0-9-1, section 4.2.3: a frame has a header of 7 bytes and an end of 1 byte [S]."""
QUEUE_NAME_BYTES = 10
"""Name of a queue, which is the routing key [A]."""
CONSUMER_TAG_BYTES = 31
"""`amq.ctag-` and 22 characters, as RabbitMQ makes them [S]."""
_METHOD_BYTES = 4
"""Class and method number of a method frame [S]."""
_CONTENT_HEADER_BYTES = AMQP_FRAME_BYTES + 15
"""Class, weight, body size, flags and the delivery mode [D]."""
_BODY_FRAME_BYTES = AMQP_FRAME_BYTES + MESSAGE_BYTES
PUBLISH_BYTES = (
    AMQP_FRAME_BYTES
    + _METHOD_BYTES
    + 2
    + 1
    + (1 + QUEUE_NAME_BYTES)
    + 1
    + _CONTENT_HEADER_BYTES
    + _BODY_FRAME_BYTES
)
"""basic.publish to the default exchange, its content header and its body [D]."""
ACK_BYTES = AMQP_FRAME_BYTES + _METHOD_BYTES + 8 + 1
"""basic.ack: a delivery tag and a flag [D]."""
DELIVER_BYTES = (
    AMQP_FRAME_BYTES
    + _METHOD_BYTES
    + (1 + CONSUMER_TAG_BYTES)
    + 8
    + 1
    + 1
    + (1 + QUEUE_NAME_BYTES)
    + _CONTENT_HEADER_BYTES
    + _BODY_FRAME_BYTES
)
"""basic.deliver, its content header and its body [D]."""
DNS_QUERY_BYTES = 12 + 17 + 4 + 11
"""RFC 1035: header, the name `www.example.com` and the rest of the question; RFC 6891: an OPT
record [D]."""
DNS_RESPONSE_BYTES = DNS_QUERY_BYTES + 16
"""The same with one compressed A record [D]."""
DNS_TIMEOUT_PS = 5 * 10**12
"""resolv.conf(5): `timeout` of 5 s and two attempts [S]."""
DNS_RETRIES = 1
HTTP_REQUEST_BYTES = 200
"""A GET with the headers of a load generator or a small client [A]; range 40 B (wrk) to 1 kB
(browsers)."""
HTTP_RESPONSE_BYTES = 238 + 615
"""Headers and welcome page of nginx 1.22 [A]; range 100 B to several MB."""
REDIS_GET_BYTES = 36
"""RESP: `GET` of the key `key:__rand_int__`, 16 characters, as redis-benchmark asks for it [D]."""
REDIS_VALUE_BYTES = 9
"""RESP: a value of 3 bytes, the default of redis-benchmark [D]."""
MQ_OUTSTANDING = 100
"""Messages that a publisher has on their way without a confirm, and prefetch of a consumer [A];
range 1 to 1000."""


@dataclass(frozen=True)
class Preset:
    """What a preset sets."""

    request: Distribution
    response: Distribution
    service: str
    port: int
    protocol: Literal["tcp", "udp"] = "tcp"
    pipeline: int = 1
    timeout_ps: int | None = None
    retries: int = 0


def _size(size_bytes: int) -> Distribution:
    return parse_distribution(f"{size_bytes}B", SIZE)


PRESETS: dict[str, Preset] = {
    "http": Preset(_size(HTTP_REQUEST_BYTES), _size(HTTP_RESPONSE_BYTES), "http", ports.HTTP),
    "redis": Preset(_size(REDIS_GET_BYTES), _size(REDIS_VALUE_BYTES), "redis", ports.REDIS),
    "dns": Preset(
        _size(DNS_QUERY_BYTES),
        _size(DNS_RESPONSE_BYTES),
        "dns",
        ports.DNS,
        protocol="udp",
        timeout_ps=DNS_TIMEOUT_PS,
        retries=DNS_RETRIES,
    ),
    "mq-publish": Preset(
        _size(PUBLISH_BYTES), _size(ACK_BYTES), "amqp", ports.AMQP, pipeline=MQ_OUTSTANDING
    ),
    "mq-confirm": Preset(_size(PUBLISH_BYTES), _size(ACK_BYTES), "amqp", ports.AMQP),
    "mq-consume": Preset(
        _size(ACK_BYTES), _size(DELIVER_BYTES), "amqp", ports.AMQP, pipeline=MQ_OUTSTANDING
    ),
}
"""Presets by name."""
