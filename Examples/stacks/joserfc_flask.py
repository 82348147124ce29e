"""An API whose tokens joserfc checks."""
import os

import requests
from flask import Flask, request
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

app = Flask(__name__)
claims = jwt.JWTClaimsRegistry(
    iss={"essential": True, "value": os.environ["ISSUER"]},
    aud={"essential": True, "value": os.environ["AUDIENCE"]},
    exp={"essential": True})


@app.get("/")
def orders():
    keys = KeySet.import_key_set(requests.get(os.environ["KEYS"], timeout=5).json())
    token = jwt.decode(request.headers.get("Authorization", "").removeprefix("Bearer "), keys, algorithms=["RS256"])
    claims.validate(token.claims)
    return token.claims


@app.errorhandler(JoseError)
@app.errorhandler(ValueError)
def refused(error):
    return {"error": str(error)}, 401


app.run(port=int(os.environ["PORT"]))
