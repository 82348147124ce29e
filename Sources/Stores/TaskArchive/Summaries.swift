package struct ExportSummary: Sendable, Equatable {
    package let tasks: Int
    /// Whether those are all, and the last line is written.
    package let isWhole: Bool
}

package struct ImportSummary: Sendable, Equatable {
    /// How the lines ended.
    package enum End: Sendable, Equatable {
        /// With the last line of an export, which counted all that came before it.
        case whole
        /// Without it: the export was not finished, or lines were lost.
        case cut
        /// The import was stopped before the end of the lines.
        case stopped
    }

    /// Tasks that did not exist.
    package var added = 0
    /// Tasks whose owner and id existed: they stayed as they were.
    package var present = 0
    /// The present tasks that differ from the line, because they were changed since, or are other tasks.
    package var differing = 0
    package var end = End.stopped

    package var tasks: Int { added + present }
}
