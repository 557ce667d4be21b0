# SPDX-License-Identifier: Apache-2.0
"""TFRecord files and tf.train.Example messages, in the standard library alone.

A record is: length (8 bytes, little endian), masked CRC-32C of these 8 bytes, data, masked CRC-32C
of the data. The data of ImageNet-like sets is a tf.train.Example:

  Example  { Features features = 1; }
  Features { map<string, Feature> feature = 1; }     a map entry is {key = 1; value = 2}
  Feature  { BytesList = 1 | FloatList = 2 | Int64List = 3; }   each { repeated value = 1; }
"""

import pathlib
import struct


class BadRecord(ValueError):
    """The bytes are not what a TFRecord file holds; the message says where."""


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def read_records(path, check_data=False):
    """The data of each record. Lengths are always verified; the data only when asked (it is slow)."""
    with open(path, "rb") as file:
        while True:
            offset = file.tell()
            head = file.read(12)
            if not head:
                return
            if len(head) < 12:
                raise BadRecord(f"{path}: cut off at byte {offset}")
            length, crc = struct.unpack("<QI", head)
            if masked_crc(head[:8]) != crc:
                raise BadRecord(f"{path}: wrong length checksum at byte {offset}")
            body = file.read(length + 4)
            if len(body) < length + 4:
                raise BadRecord(f"{path}: record at byte {offset} is cut off")
            data = body[:length]
            if check_data and masked_crc(data) != struct.unpack("<I", body[length:])[0]:
                raise BadRecord(f"{path}: wrong data checksum at byte {offset}")
            yield data


def count_records(shards):
    return sum(1 for shard in shards for _ in read_records(shard))


def find_shards(directory, part):
    """The shards named `<part>-…`, as ImageNet's usual conversion writes them."""
    shards = sorted(p for p in pathlib.Path(directory).glob(f"**/{part}-*") if p.is_file())
    if not shards:
        raise SystemExit(f"no TFRecord shard named {part}-* below {directory}")
    return shards


def write_record(file, data):
    head = struct.pack("<Q", len(data))
    file.write(head + struct.pack("<I", masked_crc(head)) + data
               + struct.pack("<I", masked_crc(data)))


def _varint(data, at):
    value, shift = 0, 0
    while True:
        if at >= len(data) or shift > 63:
            raise BadRecord(f"bad number at byte {at} of an Example")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data):
    """(field number, value) pairs of a message; a value is a number or bytes by wire type."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if wire == 2:
                size, at = _varint(data, at)
            if size is None or at + size > len(data):
                raise BadRecord(f"bad field {number} at byte {at} of an Example")
            value, at = data[at:at + size], at + size
        yield number, value


def _values(kind, message):
    values = []
    for number, value in _fields(message):
        if number != 1:
            continue
        if kind == 1:
            values.append(value)
        elif kind == 2:
            values += struct.unpack(f"<{len(value) // 4}f", value)
        elif isinstance(value, int):
            values.append(value)
        else:  # packed
            at = 0
            while at < len(value):
                one, at = _varint(value, at)
                values.append(one)
    return [v - (1 << 64) if kind == 3 and v >= 1 << 63 else v for v in values]


def parse_example(data):
    """Feature name → list of bytes, floats or integers."""
    features = {}
    for number, message in _fields(data):
        if number != 1:
            continue
        for number, entry in _fields(message):
            if number != 1:
                continue
            parts = dict(_fields(entry))
            for kind, values in _fields(parts.get(2, b"")):
                features[parts[1].decode()] = _values(kind, values)
    return features


def _encode_varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _message(number, data):
    return _encode_varint(number << 3 | 2) + _encode_varint(len(data)) + data


def make_example(features):
    """The reverse of parse_example for lists of bytes and of integers."""
    entries = b""
    for name, values in features.items():
        if isinstance(values[0], bytes):
            feature = _message(1, b"".join(_message(1, v) for v in values))
        else:
            feature = _message(3, _message(1, b"".join(_encode_varint(v) for v in values)))
        entries += _message(1, _message(1, name.encode()) + _message(2, feature))
    return _message(1, entries)
