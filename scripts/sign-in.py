#!/usr/bin/env python3
"""Signs in as the page does, without a browser: authorization code with PKCE, at the authority that the page names.

usage: scripts/sign-in.py PAGE EMAIL PASSWORD     prints an access token
"""
import base64
import hashlib
import html
import http.cookiejar
import json
import re
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects to the client are read, not followed."""

    def redirect_request(self, *_):
        return None


browser = urllib.request.build_opener(NoRedirects, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def ask(url, fields=None, headers=None):
    data = urllib.parse.urlencode(fields).encode() if fields is not None else None
    try:
        answer = browser.open(urllib.request.Request(url, data, headers or {}), timeout=20)
    except urllib.error.HTTPError as error:
        answer = error
    return answer.status, answer.headers, answer.read().decode()


def expect(status, wanted, what, body):
    if status not in wanted:
        sys.exit(f"sign-in: {what} answers {status}: {body[:300]}")


def form(page):
    """The action of the page's form, and its hidden fields."""
    action = re.search(r'<form[^>]*action="([^"]*)"', page)
    hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page)
    if not action:
        sys.exit(f"sign-in: no form on the page: {page[:300]}")
    return html.unescape(action[1]), {html.unescape(name): html.unescape(value) for name, value in hidden}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign_in(page, email, password):
    status, headers, text = ask(page)
    expect(status, [200], page, text)
    if "<title>" not in text or "default-src" not in headers.get("Content-Security-Policy", ""):
        sys.exit(f"sign-in: {page} is not the page, or has no policy")
    # The page may only talk to the authority because its policy says so.
    config = json.loads(ask(page + "config.json")[2])
    authority = config["authority"]
    origin = "/".join(authority.split("/")[:3])
    if origin not in headers["Content-Security-Policy"]:
        sys.exit(f"sign-in: the page may not connect to {origin}: {headers['Content-Security-Policy']}")
    policy = next(name for name in config["policies"] if "sign_in" in name)

    status, headers, text = ask(f"{authority}/{policy}/v2.0/.well-known/openid-configuration", headers={"Origin": page[:-1]})
    expect(status, [200], "the metadata", text)
    if headers.get("Access-Control-Allow-Origin") not in ("*", page[:-1]):
        sys.exit("sign-in: a browser could not read the metadata (CORS)")
    metadata = json.loads(text)

    verifier, state, nonce = b64(secrets.token_bytes(32)), b64(secrets.token_bytes(16)), b64(secrets.token_bytes(16))
    scope = " ".join(["openid"] + (config["scopes"] or [config["clientId"]]))
    query = {
        "client_id": config["clientId"], "response_type": "code", "response_mode": "query", "redirect_uri": page,
        "scope": scope, "state": state, "nonce": nonce,
        "code_challenge": b64(hashlib.sha256(verifier.encode()).digest()), "code_challenge_method": "S256",
    }
    endpoint = metadata["authorization_endpoint"]
    where = endpoint + ("&" if "?" in endpoint else "?") + urllib.parse.urlencode(query)
    status, headers, text = ask(where)
    if status in (302, 303) and not headers["Location"].startswith(page):
        where = urllib.parse.urljoin(where, headers["Location"])
        status, headers, text = ask(where)
    expect(status, [200], "the sign-in page", text)
    action, fields = form(text)
    fields |= {"signInName": email, "password": password}
    status, headers, text = ask(urllib.parse.urljoin(where, action), fields)
    expect(status, [302, 303], "the form", text)
    answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(headers["Location"]).query))
    if answer.get("state") != state or "code" not in answer:
        sys.exit(f"sign-in: the authority refused: {answer.get('error_description', 'without a reason')}")

    status, headers, text = ask(metadata["token_endpoint"], {
        "grant_type": "authorization_code", "client_id": config["clientId"], "code": answer["code"],
        "redirect_uri": page, "code_verifier": verifier, "scope": scope,
    })
    expect(status, [200], "the token endpoint", text)
    reply = json.loads(text)
    claims = reply["id_token"].split(".")[1]
    if json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["nonce"] != nonce:
        sys.exit("sign-in: the token is not for this sign-in")
    return reply.get("access_token") or reply["id_token"]


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(sign_in(*sys.argv[1:]))
