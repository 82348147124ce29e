import Basics
import JSON
import MockAuthority

/// What the API does with the keys of the mock.
extension Probe {
    /// Requires that a good token is accepted and a request without one refused.
    func expectMeaning(_ first: String) throws(OperatorError) {
        let status = try statusOfGood()
        guard status.isSuccess else { throw .unknown(whyRefused(status, first.claims)) }
        let refusal = try self.status(nil)
        guard !refusal.isSuccess else {
            throw .unknown(
                "The API accepts a request without a token, so the URL is open to everybody. Name one that needs a token."
            )
        }
        guard refusal < 500 else {
            throw .unknown(
                "The API answers \(refusal) to a request without a token, so its refusals mean nothing. It should answer "
                    + "401. Look into its log.")
        }
    }

    /// Requires that refusals meant the tokens: good ones are accepted still, and not each bad one was a failure.
    func expectRefusals() throws(OperatorError) {
        let status = try statusOfGood()
        guard status.isSuccess else {
            throw .unknown(
                "The API answers \(status) to good tokens by now, so its refusals mean nothing. Does it limit requests or "
                    + "block addresses, or did it end?")
        }
        let meant = results.contains { result in
            result.finding.map { $0.kind != .note } ?? !result.status.isSuccess
        }
        guard meant else {
            throw .unknown(
                "The API fails on each bad token, with a status from 500 on or without an answer, so nobody knows whether it "
                    + "would accept one. It should answer 401. Look into its log.")
        }
    }

    /// Gives the mock a key of this probe in place of the former ones, and waits until the API takes it.
    ///
    /// Returns the time of the rotation; nil if the API did not take the key. The former key never comes back once the
    /// API has the new one: an API that fell back on it (.NET's last known good) would be judged with an old set.
    mutating func rotate() throws(OperatorError) -> ContinuousClock.Instant? {
        _ = try mock.ask("keys", method: "POST", content: ["do": "rotate"])
        let rotation = ContinuousClock.now
        let status = try statusOfGood(isKeyNew: true)
        let isTaken = status.isSuccess
        add(
            ProbedToken(name: "new-key", words: "a good token of a key that the mock has just published"), status,
            isTaken
                ? nil
                : .note(
                    "So the rest was tried with the former key, and what becomes of new and withdrawn keys is not known. "
                        + "Libraries that fetch keys once in 5 or 10 minutes show it with --wait 330 or --wait 630. An API that "
                        + "never fetches them again ends with the next rotation (OpenID Connect Core 1.0 section 10.1.1)."
                ))
        return isTaken ? rotation : nil
    }

    /// Measures for how long the API takes a token whose key is withdrawn, until the end of the wait.
    mutating func judgeCache(of token: String, since rotation: ContinuousClock.Instant) throws(OperatorError) {
        // An API that takes any key has no cache to measure.
        if wasAccepted("unpublished-key") { return }
        let end = rotation + .seconds(options.wait)
        var status = try status(token)
        if status.isSuccess { say("waiting until the API forgets a withdrawn key, at most \(options.wait) s (--wait)") }
        while status.isSuccess, ContinuousClock.now < end {
            try stopIfAsked(waiting: .seconds(1))
            status = try self.status(token)
        }
        let age = Int((ContinuousClock.now - rotation).components.seconds)
        let sent = ProbedToken(name: "withdrawn-key", words: "a token that was good before the mock withdrew its key")
        guard status.isSuccess else { return add(sent, status, .failure(status)) }
        let text = "The API took it \(age) s after the key was withdrawn, as long as the probe waited: a cache of keys."
        add(
            sent, status,
            age > options.keyAge
                ? .breach("\(text) That is longer than --key-age. \(BadTokenRule.key.danger)", BadTokenRule.key.remedy)
                : .note("\(text) --key-age says how old a withdrawn key may get, --wait how long the probe watches."))
    }

    /// Lets the key set and the metadata fail: known keys must serve on, and unknown ones must not be taken on trust.
    mutating func takeKeysOutOfReach(_ badTokens: [ProbedToken]) throws(OperatorError) {
        for endpoint in ["keys", "metadata"] {
            let fault: JSONValue = ["at": .string(endpoint), "times": 1000, "status": 503]
            _ = try mock.ask("faults", method: "POST", content: fault)
        }
        let status = try statusOfGood()
        add(
            ProbedToken(
                name: "known-key-in-outage", words: "a good token of a known key, while the key set answers 503"),
            status,
            status.isSuccess
                ? nil
                : .note(
                    "An outage of the provider's key set is an outage of the API. Keep the last keys that were loaded.")
        )
        for var bad in badTokens where bad.name == "unpublished-key" {
            let token = try token([("bad", bad.name)])
            bad.name += "-in-outage"
            bad.words += ", while the key set answers 503"
            try send(bad, token, inOutage: true)
        }
    }

    /// Why an API refuses a good token with these claims, in the cases that are common.
    ///
    /// refused.txt has the reasons, each after the fact about the token or the call in which it is likely.
    private func whyRefused(_ status: Int, _ claims: JSONValue) -> String {
        func has(_ claim: String) -> Bool { claims.member(claim) != .null }
        let isB2C = has("tfp")
        let facts = [
            "always": true, "b2c": isB2C, "no-scope": !has("scp") && !has("scope"), "no-tid": !isB2C && !has("tid"),
            "no-type": options.tokenType == nil, "http": options.authority.hasPrefix("http:"),
        ]
        let rows = String(decoding: PackageResources.refused_txt, as: UTF8.self).split(separator: "\n")
        let reasons = rows.filter { facts[String($0.prefix { $0 != " " })] == true }
            .map { $0.drop { $0 != " " }.dropFirst() }
        let shown = ["iss", "aud", "scp", "scope", "roles", "tid", "azp"].filter(has)
            .map { "\($0) \(String(decoding: claims.member($0).serialized(), as: UTF8.self))" }
        return "The API answers \(status) to a good token, so its refusals mean nothing. The token has "
            + "\(shown.joined(separator: ", ")). Let your API trust them. A 404 or 405 means another URL or --method. "
            + "Otherwise often\n- " + reasons.joined(separator: "\n- ")
    }
}
