# MSAL takes https only: @trust@
import msal
app = msal.PublicClientApplication("@client@", authority="@secureBase@/@tenant@/@signIn@")
result = app.acquire_token_interactive(["@scope@"])
# then: requests.get("@tasks@/api/tasks", headers={"Authorization": "Bearer " + result["access_token"]})
