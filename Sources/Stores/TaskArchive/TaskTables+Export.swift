package import Basics
package import JSON
package import Platform
package import Tasks

extension TaskTables {
    /// Gives every task to `output` as one line of JSON, without the line's end, ordered by owner and id.
    ///
    /// All lines of one owner are adjacent and show one moment. Those of different owners may show different moments, since
    /// no transaction is kept open for a slow reader. Where the newest tasks of an owner are gone, a line with the `next` id
    /// follows, so that no id is ever given again. The idempotency keys that are remembered now are lines after the tasks of
    /// their owner. The last line says that the export is whole.
    ///
    /// `shouldContinue` is called after every few owners with the number of exported tasks; false ends the export without
    /// its last line.
    package func export(to output: LineOutput, shouldContinue: (Int) -> Bool) throws(OperatorError) -> ExportSummary {
        var (owner, tasks, keys) = ("", 0, 0)
        while shouldContinue(tasks) {
            // The transaction ends before the page is written.
            let page = try rethrowing(as: \.forOperator) { () throws(Failure) in
                try snapshot { () throws(Failure) in try nextPage(after: owner) }
            }
            if let contradiction = page.contradiction { throw .databaseFailed(contradiction) }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try page.write(output) }
            guard let last = page.owners.last else {
                let end = ArchiveLine.end(tasks: tasks, keys: keys)
                try rethrowing(as: OperatorError.init) { () throws(SystemError) in try output(end.json) }
                return ExportSummary(tasks: tasks, isWhole: true)
            }
            owner = last.owner.identifier
            tasks += page.tasks.count
            keys += page.records.count
        }
        return ExportSummary(tasks: tasks, isWhole: false)
    }

    /// The next owners in byte order; none at the end, and then with a task only if that has no owner's row.
    private func nextPage(after owner: String) throws(Failure) -> ExportPage {
        let after = [JSONValue.string(owner)]
        let candidates = try read(
            "owners WHERE owner > ?1 ORDER BY owner LIMIT \(ExportPage.most.owners)", after, OwnerCounts.columns
        ) { (row: [JSONValue]) throws(ForeignValue) in
            ExportPage.OwnerRow(owner: try Owner(stored: row[0].string ?? ""), counts: try OwnerCounts(row))
        }
        var page = ExportPage(candidates)
        guard let last = page.owners.last?.owner.identifier else {
            page.tasks = try read("tasks WHERE owner > ?1 LIMIT 1", after, TaskItem.columns, TaskItem.init)
            return page
        }
        page.tasks = try read(
            "tasks WHERE owner > ?1 AND owner <= ?2 ORDER BY owner, id", after + [.string(last)], TaskItem.columns,
            TaskItem.init)
        // The plus keeps SQLite from using the index by time, whose rows would have to be sorted by owner.
        page.records = try read(
            """
            attempts WHERE owner > ?1 AND owner <= ?2 AND +time > \(IdempotencyKey.expiry) ORDER BY owner, key
            """, after + [.string(last)], IdempotencyRecord.columns, IdempotencyRecord.init)
        return page
    }

    private func read<Value>(
        _ from: String, _ values: [JSONValue], _ columns: [TableColumn],
        _ value: ([JSONValue]) throws(ForeignValue) -> Value
    ) throws(Failure) -> [Value] {
        let rows = try run("SELECT \(columns.names) FROM \(from)", values, giving: columns)
        return try rethrowing(as: { Failure.corrupt($0.message) }) { () throws(ForeignValue) in try rows.map(value) }
    }
}

extension OwnerCounts {
    package static let columns = [TableColumn.text("owner"), .integer("next_id"), .integer("tasks")]

    package init(_ row: [JSONValue]) throws(ForeignValue) {
        try self.init(storedNext: row[1].integer ?? 0, tasks: row[2].integer ?? 0)
    }
}

extension IdempotencyKey {
    /// Keys of this time and earlier are expired, in milliseconds since 1970.
    package static var expiry: Int64 { SystemTime().wallMilliseconds - lifetime }
}
