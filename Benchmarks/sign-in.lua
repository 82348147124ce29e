-- The password grant as MSAL writes it, for an ID token, an access token and a refresh token.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
wrk.body = "client_id=580e250c-8f26-49d0-bee8-1c078add1609&grant_type=password&client_info=1"
    .. "&username=alice%40example.com&password=Passw0rd%21"
    .. "&scope=https%3A%2F%2Fcontoso.onmicrosoft.com%2Ftasks%2Ftasks.read+offline_access+openid+profile"
