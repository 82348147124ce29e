"""An API whose tokens PyJWT checks. PyJWKClient fetches the keys again for a key id that it does not know."""
import os

import jwt
from flask import Flask, request

app = Flask(__name__)
keys = jwt.PyJWKClient(os.environ["KEYS"])


@app.get("/")
def orders():
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    key = keys.get_signing_key_from_jwt(token)
    return jwt.decode(token, key.key, algorithms=["RS256"], issuer=os.environ["ISSUER"], audience=os.environ["AUDIENCE"])


@app.errorhandler(jwt.PyJWTError)
def refused(error):
    return {"error": str(error)}, 401


app.run(port=int(os.environ["PORT"]))
