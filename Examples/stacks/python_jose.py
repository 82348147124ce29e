"""An API whose tokens python-jose checks."""
import os

import requests
from flask import Flask, request
from jose import jwt
from jose.exceptions import JOSEError

app = Flask(__name__)


@app.get("/")
def orders():
    keys = requests.get(os.environ["KEYS"], timeout=5).json()
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return jwt.decode(token, keys, algorithms="RS256", issuer=os.environ["ISSUER"], audience=os.environ["AUDIENCE"])


@app.errorhandler(JOSEError)
def refused(error):
    return {"error": str(error)}, 401


app.run(port=int(os.environ["PORT"]))
