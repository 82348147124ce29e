extension RSAPrivateKeyTests {
    /// A throw-away key of 1024 bits under the passphrase "x".
    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIIC3TBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI4WxBzfbxQ/QCAggA
        MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAECBBAeqIYc/m9gCavCJaRmPDuKBIIC
        gOvFjrh2KdrrH97gLMV5ENVEr8zcj14XVvOiDQUslBtP+cX8yJyiAMsjoPC+GPgc
        oIeEdQydpcvR/LiQFxcZL2CWU3HhwHNPHvo0IDeK5MbxvonbXyZucRPGUtEZ1yo3
        4sTmxeARy0ORd9k72B3P2s+TwPpJlsJvr2QQrX27QMwxPx52AfdUwvjjHBnocuM9
        G1sCDhHbMgJY7bpRGHgFtOFavA9eSP5QvTVndjc6fg/qddChWMjjE/65OPkqOPZH
        7lL4UK/Rp2+ZVeO57Kzb4Dz0F16R4pEnmPn62OZh8UR85sFPa0NYV6kLWQCpGmJ/
        eIEfaXGDJGVlTMjDAa+4Qqj2e9UykFgtaNTSt9MLFuzTvmggn7qyc6Z7ihC9OqB/
        vz8OBzVXSz4JeB4mSZCEUi/CgTlrkaPkfDdh4+UrI0EMB8GS6a37uySTXea/GrJb
        f+1xXWnxHZ9Yz2kD+nlkIXwmikm6b4/zjpgsOjLnOfSxOL1eatIpmcUqw73xsk/J
        8MnmKPkSiU7pK/g6GZrdldR3E0lPmw0faMeqtrf1d/UAFnhBurgykjKcBusBMWpz
        4BELZZujGdFo1DxTPtZN4x1GSvxz7qcGEvdfa/nJZ8DKwCMvuCCLEzOgWyUopkWI
        +gtMmJEmpz+bguOY7h5bQTgLAenJaLRVSHf3YRUxpcR0Kzyz5bluu3qzrCGildMW
        wew//61ontnJEZpDipTjQs0s7MVecTokWY0u3no1Uob8AlddTvV86SrkhRf2lMR6
        6nwgZXKRWI2DqaSzFW3fQPTUh2yn05OMsWriTlU3N8YIBAqqUxGm6zwNrojvFwdd
        hZ2V8k1/rOiwLCoSuMTItws=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// A throw-away key on the curve P-256.
    static let ellipticCurve = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRmMqLf5oxk5GmGZt
        vW+lgN0OPrKJ2lPrhayQlooiS6ShRANCAARLXffu6WKx/wAL+koxNhDg+//mFH+G
        brcnNlq1ejQeyHVujOVctRGiImAPscIgs4ceGVIii9A7+Y6fzjqJppxZ
        -----END PRIVATE KEY-----
        """
}
