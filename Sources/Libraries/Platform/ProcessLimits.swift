private import Glibc

/// The limits that the system sets for this process.
package enum ProcessLimits {
    /// Lets the process open this many files and sockets at once, as far as the system allows; returns the new limit.
    package static func raiseOpenFiles(to wanted: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else { return 0 }
        guard limit.rlim_cur < rlim_t(wanted) else { return Int(clamping: limit.rlim_cur) }
        let now = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
        // Above fs.nr_open the system may refuse a limit that is below the hard limit.
        let isRaised = unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0
        return Int(clamping: isRaised ? limit.rlim_cur : now)
    }

    /// How many files and sockets the process has open now; 0 if the system does not say.
    package static var openFiles: Int {
        // The folder itself, its parent and the descriptor that reads the folder are not counted.
        max(((try? Folder.names(in: "/proc/self/fd")) ?? []).count - 3, 0)
    }
}
