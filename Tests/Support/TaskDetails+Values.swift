import JSON
import Tasks

extension TaskDetails {
    /// Details with these values, as they are.
    package init(_ values: [TaskDetail: JSONValue]) {
        self.init()
        for (detail, value) in values { self[detail] = value }
    }
}

extension TaskDetailsChange {
    /// A change that sets these values, or removes a detail (nil).
    package init(_ values: [TaskDetail: JSONValue?]) {
        self.init()
        for (detail, value) in values { set(detail, to: value) }
    }
}

extension TaskDetail {
    /// Values that a careless store takes for each other, or for none.
    package var samples: [JSONValue] {
        switch kind {
        case .date: [.string("0001-01-01"), .string("9999-12-31")]
        case .text: [.string("caf\u{E9}"), .string("cafe\u{301}"), .string("two\r\nlines \"caf\u{E9}\"")]
        case .number(let greatest): [0, .integer(greatest), .real(-2.5)]
        case .flag: [true]
        case .rule: [.string("FREQ=DAILY"), .string("FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR")]
        }
    }

    /// The most bytes of a text; 0 for another kind.
    package var longest: Int { kind.longestText ?? 0 }
}

extension JSONValue {
    /// The value in JSON.
    package var rendered: String { String(decoding: serialized(), as: UTF8.self) }
}
