// MSAL takes https only: @externalTrust@. In the hosts file: 127.0.0.1 @externalHosts@
const msalConfig = {
  auth: {
    clientId: "@externalClient@",
    authority: "@authorityOfPage@",
    // The second host is that of the issuer: MSAL.js 5.10 and later refuse an authority by name without it.
    knownAuthorities: [@knownAuthorities@],
    redirectUri: "@redirectOfExternalPage@", // from MSAL.js 5 on the page with its redirect bridge
  },
};
const request = { scopes: [@externalScopes@] };
// then: fetch("@tasks@/api/tasks", { headers: { Authorization: `Bearer ${result.accessToken}` } })
