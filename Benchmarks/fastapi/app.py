"""A JWT-protected GET /api/tasks: FastAPI, PyJWT and the standard library's sqlite3, all from Debian packages.

It verifies every token. Environment: ISSUER, AUDIENCE, JWKS (file), DB (file).
"""
import json
import os
import sqlite3

import jwt
from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel

ISSUER, AUDIENCE = os.environ["ISSUER"], os.environ["AUDIENCE"]
with open(os.environ["JWKS"]) as file:
    KEYS = {key["kid"]: jwt.PyJWK(key, algorithm="RS256").key for key in json.load(file)["keys"]}

database = sqlite3.connect(os.environ["DB"], isolation_level=None, timeout=5)


class Task(BaseModel):
    id: int
    task: str
    owner: str
    completed: bool
    date: str


UNAUTHORIZED = HTTPException(401, "unauthorized", {"WWW-Authenticate": "Bearer"})


async def current_owner(authorization: str | None = Header(default=None)) -> str:
    if not authorization or authorization[:7].lower() != "bearer ":
        raise UNAUTHORIZED
    token = authorization[7:]
    try:
        key = KEYS[jwt.get_unverified_header(token)["kid"]]
        claims = jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=ISSUER,
                            options={"require": ["exp", "iss", "aud", "oid"]})
    except (jwt.PyJWTError, KeyError):
        raise UNAUTHORIZED from None
    return claims["oid"]


app = FastAPI(openapi_url=None)


@app.get("/api/tasks")
async def list_tasks(owner: str = Depends(current_owner)) -> list[Task]:
    rows = database.execute("SELECT id, task, owner, completed, date FROM tasks WHERE owner=? ORDER BY id", (owner,)).fetchall()
    return [Task(id=i, task=t, owner=o, completed=bool(c), date=d) for i, t, o, c, d in rows]
