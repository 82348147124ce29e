import Basics

extension Timestamp {
    /// `2018-07-10 06:35:29Z`, as B2C writes times, of this many seconds since 1970.
    static func b2cText(seconds: Int64) -> String {
        let text = Timestamp(seconds: seconds).text
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))Z"
    }
}
