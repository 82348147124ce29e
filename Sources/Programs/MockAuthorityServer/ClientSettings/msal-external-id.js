// MSAL takes https only: @externalTrust@. In the hosts file: 127.0.0.1 @externalHosts@
const msalConfig = {
  auth: {
    clientId: "@externalClient@",
    authority: "@authorityOfPage@",
    knownAuthorities: [@knownAuthorities@],
    redirectUri: "@redirectOfPage@",
  },
};
const request = { scopes: [@externalScopes@] };
// then: fetch("@tasks@/api/tasks", { headers: { Authorization: `Bearer ${result.accessToken}` } })
