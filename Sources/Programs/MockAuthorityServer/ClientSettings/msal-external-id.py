# MSAL takes https only: @externalTrust@. In the hosts file: 127.0.0.1 @externalHosts@
import msal
app = msal.PublicClientApplication("@externalClient@", authority="https://@externalHost@/")
# Without the hosts file: oidc_authority="https://localhost:@externalPort@/@externalID@/v2.0" in place of authority.
result = app.acquire_token_interactive([@externalScopes@])
# then: requests.get("@tasks@/api/tasks", headers={"Authorization": "Bearer " + result["access_token"]})
