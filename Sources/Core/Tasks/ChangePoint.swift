import Basics

/// A point in the changes of an owner's list: a client who has the point knows everything up to it.
///
/// Every task that is added, changed or removed takes the owner's next change number.
package struct ChangePoint: Sendable, Hashable {
    /// A random number of the owner's list: after a restored backup, a move or an import the list has another one.
    package let origin: Int64
    /// The last change number that is known.
    package let number: Int64
    /// The id up to which the tasks are known while the whole list is read page by page; 0 once all were read.
    package let listed: Int64

    package init(origin: Int64, number: Int64, listed: Int64 = 0) {
        (self.origin, self.number, self.listed) = (origin, number, listed)
    }

    /// The point of an owner who never had a task, and so knows nothing; no list has the origin 0.
    package static let beginning = ChangePoint(origin: 0, number: 0)

    /// An origin for a list that begins anew; lists that are older than origins have 1.
    package static var newOrigin: Int64 { .random(in: 2...Int64.greatestTaskNumber) }
}

extension ChangePoint {
    /// The point as clients keep it: its numbers and a digest of them with the owner, in base64url.
    ///
    /// The digest has no secret: a person who makes up a token for their own list is only shown their own list.
    package func token(for owner: Owner) -> String {
        let bytes = [origin, number, listed].flatMap(\.bytes)
        return Base64URL.encode(bytes + Self.digest(of: bytes, owner))
    }

    /// The point of a token; nil if the token is none, or was made for another owner.
    package init?(token: String, for owner: Owner) {
        guard let bytes = Base64URL.decode(token), bytes.count == 32,
            Self.digest(of: Array(bytes.prefix(24)), owner) == Array(bytes.suffix(8))
        else { return nil }
        let numbers = (0..<3).map { number in
            bytes[8 * number..<8 * number + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        self.init(origin: numbers[0], number: numbers[1], listed: numbers[2])
    }

    private static func digest(of bytes: [UInt8], _ owner: Owner) -> [UInt8] {
        var digest = FNV1a(of: owner.identifier)
        digest.add(bytes)
        return Int64(bitPattern: digest.value).bytes
    }
}

extension Int64 {
    /// The bytes, the highest first.
    fileprivate var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> Int64(56 - 8 * $0)) } }
}
