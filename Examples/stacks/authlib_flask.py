"""An API whose tokens Authlib's resource protector checks, in Flask."""
import os

import requests
from authlib.integrations.flask_oauth2 import ResourceProtector
from authlib.jose import JsonWebKey, JsonWebToken
from authlib.jose.errors import JoseError
from authlib.oauth2.rfc6750 import BearerTokenValidator, InvalidTokenError
from flask import Flask

app = Flask(__name__)
jwt = JsonWebToken(["RS256"])
claims = {
    "iss": {"essential": True, "value": os.environ["ISSUER"]},
    "aud": {"essential": True, "value": os.environ["AUDIENCE"]},
    "exp": {"essential": True},
}


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        try:
            keys = JsonWebKey.import_key_set(requests.get(os.environ["KEYS"], timeout=5).json())
            return jwt.decode(token_string, keys, claims_options=claims)
        except (JoseError, ValueError):
            raise InvalidTokenError

    def validate_token(self, token, scopes, request):
        try:
            token.validate()
        except JoseError:
            raise InvalidTokenError


protect = ResourceProtector()
protect.register_token_validator(Validator())
app.add_url_rule("/", view_func=protect()(lambda: {"orders": []}))
app.run(port=int(os.environ["PORT"]))
