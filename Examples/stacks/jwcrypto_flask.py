"""An API whose tokens jwcrypto checks."""
import os

import requests
from flask import Flask, request
from jwcrypto.common import JWException
from jwcrypto.jwk import JWKSet
from jwcrypto.jwt import JWT

app = Flask(__name__)
# jwcrypto checks exp and nbf by the clock where they are named with None.
claims = {"iss": os.environ["ISSUER"], "aud": os.environ["AUDIENCE"], "exp": None, "nbf": None}


@app.get("/")
def orders():
    keys = JWKSet.from_json(requests.get(os.environ["KEYS"], timeout=5).text)
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return JWT(jwt=token, key=keys, algs=["RS256"], check_claims=claims, expected_type="JWS").claims


@app.errorhandler(JWException)
@app.errorhandler(ValueError)
def refused(error):
    return {"error": str(error)}, 401


app.run(port=int(os.environ["PORT"]))
