"""An API with Flask-JWT-Extended, for the tokens of another issuer: PyJWT's client fetches their keys."""
import os

import jwt
from flask import Flask
from flask_jwt_extended import JWTManager, jwt_required

app = Flask(__name__)
app.config.update(
    JWT_ALGORITHM="RS256", JWT_DECODE_ISSUER=os.environ["ISSUER"], JWT_DECODE_AUDIENCE=os.environ["AUDIENCE"])
manager = JWTManager(app)
keys = jwt.PyJWKClient(os.environ["KEYS"])


@manager.decode_key_loader
def key(header, claims):
    return keys.get_signing_key(header.get("kid")).key


@app.get("/")
@jwt_required()
def orders():
    return []


@app.errorhandler(jwt.PyJWTError)
def refused(error):
    return {"error": str(error)}, 401


app.run(port=int(os.environ["PORT"]))
