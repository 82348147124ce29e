// MSAL takes https only: @startSecure@make the browser trust @trusted@.
const msalConfig = {
  auth: {
    clientId: "@client@",
    authority: "@secureBase@/@tenant@/@signIn@",
    knownAuthorities: ["@secureHost@"], // with its port
    redirectUri: "@redirectOfPage@", // from MSAL.js 5 on the page with its redirect bridge
  },
};
const request = { scopes: [@scopes@] };
// then: fetch("@tasks@/api/tasks", { headers: { Authorization: `Bearer ${result.accessToken}` } })
