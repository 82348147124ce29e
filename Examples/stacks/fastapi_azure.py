"""An API whose tokens of Azure AD B2C fastapi-azure-auth checks."""
import os

import uvicorn
from fastapi import FastAPI, Security
from fastapi_azure_auth import B2CMultiTenantAuthorizationCodeBearer


async def issuer(tid):
    return os.environ["ISSUER"]


scheme = B2CMultiTenantAuthorizationCodeBearer(
    app_client_id=os.environ["AUDIENCE"],
    openid_config_url=os.environ["METADATA"],
    iss_callable=issuer,
    openapi_authorization_url="https://contoso.b2clogin.com/authorize",
    openapi_token_url="https://contoso.b2clogin.com/token",
    scopes={})
app = FastAPI()


@app.get("/", dependencies=[Security(scheme)])
async def orders():
    return []


uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
