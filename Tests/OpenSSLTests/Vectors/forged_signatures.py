#!/usr/bin/env python3
"""Makes forged_signatures.json: tokens whose signature alone is at fault, made with the private key or without any.

Needs the package `cryptography` for new keys; all else is arithmetic. Run it to make the file anew:
    python3 forged_signatures.py > forged_signatures.json
"""

import base64
import hashlib
import json

from cryptography.hazmat.primitives.asymmetric import rsa

NOW = 1_700_000_000
SIZE = 256


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


def signing_input(key_identifier):
    header = {"typ": "JWT", "alg": "RS256", "kid": key_identifier}
    claims = {
        "iss": "https://contoso.b2clogin.com/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/", "exp": NOW + 3600, "nbf": NOW,
        "iat": NOW, "aud": "90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6", "oid": "3cd71a23-2b14-4f4c-9c35-5dd0c5a6b1b7",
        "tfp": "B2C_1_sign_in",
    }
    return f"{text(compact(header))}.{text(compact(claims))}".encode()


# DER of AlgorithmIdentifier and the head of the OCTET STRING (RFC 8017 section 9.2, note 1).
PREFIX = {
    "md5": "3020300c06082a864886f70d020505000410", "sha1": "3021300906052b0e03021a05000414",
    "sha224": "302d300d06096086480165030402040500041c", "sha256": "3031300d060960864801650304020105000420",
    "sha384": "3041300d060960864801650304020205000430", "sha512": "3051300d060960864801650304020305000440",
    "sha3_256": "3031300d060960864801650304020805000420",
}


def info(name, message):
    return bytes.fromhex(PREFIX[name]) + hashlib.new(name, message).digest()


def padded(data, kind=1, fill=0xFF, separator=0, first=0):
    return bytes([first, kind]) + bytes([fill]) * (SIZE - 3 - len(data)) + bytes([separator]) + data


def pss(message, salt):
    digest = hashlib.sha256(message).digest()
    hashed = hashlib.sha256(bytes(8) + digest + salt).digest()
    block = bytes(SIZE - len(salt) - 34) + b"\x01" + salt
    mask = b"".join(hashlib.sha256(hashed + i.to_bytes(4, "big")).digest() for i in range(SIZE // 32 + 1))
    masked = bytearray(a ^ b for a, b in zip(block, mask))
    masked[0] &= 0x7F
    return bytes(masked) + hashed + b"\xbc"


def blocks(message):
    good = info("sha256", message)
    digest = hashlib.sha256(message).digest()
    for name in PREFIX:
        if name != "sha256":
            yield f"the hash is {name}", padded(info(name, message))
    yield "RSASSA-PSS with a salt", pss(message, bytes(range(32)))
    yield "RSASSA-PSS without salt", pss(message, b"")
    yield "the hash without DigestInfo", padded(digest)
    yield "the hash of the hash", padded(info("sha256", digest))
    yield "DigestInfo without parameters", padded(bytes.fromhex("302f300b0609608648016503040201") + b"\x04\x20" + digest)
    yield "the length in two bytes", padded(bytes.fromhex("308131300d060960864801650304020105000420") + digest)
    yield "the indefinite length", padded(bytes.fromhex("3080300d060960864801650304020105000420") + digest + b"\0\0")
    yield "parameters that are no NULL", padded(bytes.fromhex("3033300f0609608648016503040201040200000420") + digest)
    yield "SHA-256 named, SHA-512 inside", padded(bytes.fromhex("3051300d060960864801650304020105000440") + hashlib.sha512(message).digest())
    yield "a byte after the hash", padded(good + b"\0")
    yield "a hash cut short", padded(bytes.fromhex("3030300d06096086480165030402010500041f") + digest[:31])
    yield "the hash the other way round", padded(good[:-32] + digest[::-1])
    yield "block type 0", padded(good, kind=0, fill=0)
    yield "block type 2", padded(good, kind=2, fill=0x55)
    yield "padding of other bytes", padded(good, fill=0xFE)
    yield "no separator", padded(good, separator=0xFF)
    yield "short padding, then garbage", b"\0\1" + b"\xff" * 8 + b"\0" + good + bytes(SIZE - 11 - len(good))
    yield "no padding, then garbage", b"\0\1\0" + good + bytes(SIZE - 3 - len(good))
    yield "the message itself", padded(message[:200])


def messages(message):
    header, payload = message.split(b".")
    yield "the header alone", header
    yield "the payload alone", payload
    yield "payload before header", payload + b"." + header
    yield "a dot more", message + b"."
    yield "without the dot", header + payload
    yield "the decoded payload", base64.urlsafe_b64decode(payload + b"==")
    yield "nothing", b""


def cube_root(number):
    low, high = 0, 1 << (number.bit_length() // 3 + 2)
    while low < high:
        middle = (low + high) // 2
        if middle**3 < number:
            low = middle + 1
        else:
            high = middle
    return low


def forgeries(message):
    """For an exponent of 3, without a private key: the cube of the signature begins like a good block."""
    good = info("sha256", message)
    for name, head in [
        ("a short padding", b"\0\1" + b"\xff" * 8 + b"\0" + good), ("no padding", b"\0\1\0" + good),
        ("a long padding", b"\0\1" + b"\xff" * 24 + b"\0" + good),
    ]:
        number = int.from_bytes(head + bytes(SIZE - len(head)), "big")
        root = cube_root(number)
        assert (root**3).to_bytes(SIZE, "big").startswith(head)
        yield f"the cube begins with {name} and the hash", root


def main():
    private = rsa.generate_private_key(65537, 2048).private_numbers()
    modulus, exponent = private.public_numbers.n, private.public_numbers.e
    other = rsa.generate_private_key(3, 2048).public_key().public_numbers()
    tokens = []

    def add(name, message, signature, good=False):
        tokens.append({"name": name, "token": f"{message.decode()}.{text(signature)}", "good": good})

    def power(block):
        return pow(int.from_bytes(block, "big"), private.d, modulus).to_bytes(SIZE, "big")

    message = signing_input("key-3")
    right = power(padded(info("sha256", message)))
    number = int.from_bytes(right, "big")
    add("signed as it should be", message, right, good=True)
    for name, block in blocks(message):
        add(name, message, power(block))
    for name, signed in messages(message):
        add(f"signed is {name}", message, power(padded(info("sha256", signed))))
    for name, value in [
        ("0", 0), ("1", 1), ("2", 2), ("the modulus", modulus), ("the modulus less 1", modulus - 1), ("the modulus and 1", modulus + 1),
        ("the modulus less the signature", modulus - number), ("all ones", (1 << 2048) - 1),
        ("the block, not signed", int.from_bytes(padded(info("sha256", message)), "big")),
    ]:
        add(f"the number is {name}", message, value.to_bytes(SIZE, "big"))
    add("the number is the signature and the modulus", message, (number + modulus).to_bytes(SIZE + 1, "big"))
    add("the bytes the other way round", message, right[::-1])
    add("a zero before", message, b"\0" + right)
    add("a zero at the end", message, right + b"\0")
    add("as hexadecimal digits", message, right.hex().encode())
    add("in base64 twice", message, base64.b64encode(right))
    add("twice", message, right + right)

    message = signing_input("key-e3")
    for name, root in forgeries(message):
        add(name, message, root.to_bytes(SIZE, "big"))

    def key(kid, n, e):
        numbers = [text(value.to_bytes((value.bit_length() + 7) // 8, "big")) for value in (n, e)]
        return {"kid": kid, "kty": "RSA", "use": "sig", "n": numbers[0], "e": numbers[1]}

    keys = [key("key-3", modulus, exponent), key("key-e3", other.n, other.e)]
    print(json.dumps({"keys": keys, "tokens": tokens}, indent=1))


main()
