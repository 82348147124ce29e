import Basics
import JSON

/// A task after a change, and the task that comes next if the change completes a repeating task.
struct ChangedTask {
    var task: TaskItem
    var next: AddTask?
}

extension TaskItem {
    /// The task after a change, or nil if nothing differs; then the task keeps its revision and its time.
    func applying(_ change: TaskChange, at time: Int64) throws(TaskChange.Contradiction) -> ChangedTask? {
        var task = self
        task.text = change.text ?? text
        task.completed = change.completed ?? completed
        task.details = change.details.applied(to: details)
        try task.refuseRepeat(of: change, wasCompleted: completed)
        let isCompleted = task.completed && !completed
        let next = isCompleted ? task.next(on: change.completedOn, at: time) : nil
        if isCompleted { task.details[.repeat] = nil }
        guard task != self else { return nil }
        task.modified = time
        task.revision = revision.nextRevision
        return ChangedTask(task: task, next: next)
    }

    /// Refuses a change after which a finished task would repeat, or one that is not due on a day.
    private func refuseRepeat(of change: TaskChange, wasCompleted: Bool) throws(TaskChange.Contradiction) {
        guard change.mayRefuse, details[.repeat] != nil else { return }
        if wasCompleted, completed {
            guard change.details.values[.repeat] == nil else { throw .repeatOfFinished }
        } else if details[.due] == nil {
            throw .repeatWithoutDue
        }
    }

    /// The task that comes after this one, which is completed on a day, by default that of UTC at the time.
    private func next(on day: CivilDate?, at time: Int64) -> AddTask? {
        guard let text = details[.repeat]?.string, let rule = try? RepeatRule(text),
            let due = details[.due]?.string.flatMap({ CivilDate($0) })
        else { return nil }
        let completion = day ?? CivilDate(at: time)
        let last = due.daysSince1970 > completion.daysSince1970 ? due : completion
        guard let next = rule.next(from: due, after: last) else { return nil }
        var details = details
        details[.due] = .string(next.date.text)
        details[.repeat] = .string(next.rule.text)
        return AddTask(
            owner: owner, text: self.text, completed: false, details: details, time: time, key: nil, limit: .max)
    }
}

extension TaskChange {
    /// Whether the change sets when a task repeats, or takes away the day on which it is due.
    fileprivate var mayRefuse: Bool {
        details.values[.repeat] != nil || details.concerns(.due) && details.values[.due] == nil
    }

    /// Whether only the stored task tells if the change can be made.
    var needsTask: Bool { oldNames != nil || mayRefuse }
}
