import Basics
import JSON
import Support
@testable import Tasks

/// The first line is an owner, the others are texts: what the API writes of them is JSON that says the same.
func checkTasks(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    let owner = Owner(lines.first ?? "")
    var items: [TaskItem] = []
    for (index, line) in lines.dropFirst().prefix(100).enumerated() {
        // A number is a time as well.
        let time = Int64(line) ?? Int64(index)
        guard let text = try? TaskText(line) else { continue }
        items.append(
            TaskItem(
                id: Int64(index) + 1, owner: owner, text: text, completed: index % 2 == 0, created: time,
                modified: time, details: try details(line)))
        try checkTime(line, time)
    }
    let list = try rendered(items, of: owner)
    guard let read = try? JSONValue(parsing: list.json).array else {
        throw BrokenInvariant(description: "a list is JSON")
    }
    try require(read.count == items.count, "a list has all tasks")
    for (item, shown) in zip(items, read) {
        try checkTask(item, shown.object ?? JSONObject())
        try require(item.json == shown.serialized(), "a task is written alike alone and in a list")
    }
    try require(try rendered(items, of: owner) == list, "the same tasks have the same tag")
}

/// One page, with room for all that an input can be.
private func rendered(_ items: [TaskItem], of owner: Owner) throws -> TaskList {
    var page = TaskPage(of: owner, atMost: nil, in: AnswerMemory(limit: 1 << 30))
    for item in items { try require(page.append(item), "there is room on the page") }
    return page.list()
}

private func checkTask(_ item: TaskItem, _ shown: JSONObject) throws {
    for name in ["task", "Text"] {
        try require(isSame(shown[name], item.text.value), "a text is shown byte for byte")
    }
    for name in ["owner", "Owner"] {
        try require(isSame(shown[name], item.owner.identifier), "an owner is shown byte for byte")
    }
    try require(shown["Id"]?.integer == item.id && shown["completed"]?.boolean == item.completed, "so is the rest")
    try checkDetails(item.details, shown)
}

/// A line is a value of every detail as well, as far as it can be.
private func details(_ line: String) throws -> TaskDetails {
    var details = TaskDetails()
    for detail in TaskDetail.allCases {
        let values: [JSONValue?] = [.string(line), Double(line).map { .real($0) }, .boolean(line.isEmpty)]
        details[detail] = values.lazy.compactMap { $0.flatMap(detail.kind.checked) }.first
    }
    return details
}

private func checkDetails(_ details: TaskDetails, _ shown: JSONObject) throws {
    for detail in TaskDetail.allCases {
        let read = TaskDetails([detail: shown[detail.name]].compactMapValues { $0 })
        let kept = TaskDetails([detail: details[detail]].compactMapValues { $0 })
        try require(read == kept, "a detail is shown as it is, or not at all")
    }
}

private func isSame(_ value: JSONValue?, _ text: String) -> Bool {
    value?.string?.utf8.elementsEqual(text.utf8) ?? false
}

private func checkTime(_ line: String, _ milliseconds: Int64) throws {
    let moment = Timestamp(milliseconds: milliseconds)
    try require(moment.text.utf8.count == 24, "a time has 24 bytes")
    try require(Timestamp(parsing: moment.text) == moment, "a time is read as it was written")
    if let read = Timestamp(parsing: line) {
        try require(read.text.utf8.elementsEqual(line.utf8), "a time has one form")
    }
}
