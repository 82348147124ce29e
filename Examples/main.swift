// usage: swiftc Sync.swift main.swift -o sync, then
//        ACCESS_TOKEN=... ./sync URL FILE [add TEXT | rename ID TEXT | done ID | remove ID | follow]
import Foundation

let (words, token) = (CommandLine.arguments, ProcessInfo.processInfo.environment["ACCESS_TOKEN"] ?? "")
guard words.count > 2 else { fatalError("usage: ACCESS_TOKEN=... ./sync URL FILE [COMMAND]") }
let list = SyncedList(words[1], file: URL(fileURLWithPath: words[2]), token: { token })
let (command, text, id) = (words.dropFirst(3).first, words.dropFirst(4), words.dropFirst(4).first.flatMap { Int($0) })
if command == "add" { try await list.note(Change(text: text.joined(separator: " "))) }
if command == "rename" { try await list.note(Change(id: id, text: text.dropFirst().joined(separator: " "))) }
if command == "done" { try await list.note(Change(id: id, completed: true)) }
if command == "remove" { try await list.note(Change(id: id)) }
for (change, status) in try await list.push() { write("refused with \(status): \(change)") }
try await list.pull()
show(await list.tasks)
while command == "follow" {
    let reason: String?
    do { reason = try await list.follow(show) } catch let error as URLError { reason = error.localizedDescription }
    FileHandle.standardError.write(Data("the stream has ended: \(reason ?? "the connection was lost")\n".utf8))
    if let reason, reason.hasPrefix("token.") || reason.hasPrefix("account.") { exit(1) }  // It helps to sign in again, and nothing else.
    try await Task.sleep(for: .seconds(1))
    try? await list.pull()  // While the server is away, the next round says so.
}

@Sendable func show(_ tasks: [Item]) { write(String(decoding: (try? JSONEncoder().encode(tasks)) ?? Data(), as: UTF8.self)) }

@Sendable func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
