package import Basics
private import Glibc

package enum ProcessFacts {
    /// The variables that the process was started with; invalid UTF-8 is repaired.
    ///
    /// They are read from the kernel's file, because `environ` is shared mutable memory.
    package static var environment: [String: String] {
        guard let bytes = try? File.read("/proc/self/environ") else { return [:] }
        let lines = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return lines.reduce(into: [:]) { variables, line in
            guard let equals = line.firstIndex(of: "=") else { return }
            variables[String(line[..<equals])] = String(line[line.index(after: equals)...])
        }
    }

    /// The words of the command line after the name of the program.
    ///
    /// Swift reads them from `/proc`, too. Without it a program would run as if it had neither arguments nor settings.
    package static func arguments(of program: String) -> [String] {
        guard File.exists("/proc/self/cmdline") else {
            StandardStream.error.print("\(program): /proc is not mounted, which is needed: mount -t proc proc /proc")
            exitProcess(.failure)
        }
        return Array(CommandLine.arguments.dropFirst())
    }

    package static var identifier: Int32 { getpid() }

    /// The bytes of memory that the process occupies now.
    package static var residentBytes: Int {
        guard let bytes = try? File.read("/proc/self/statm") else { return 0 }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }

    /// The seconds of CPU time that all threads of the process have used so far.
    package static var processorSeconds: Double {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Ends the process at once; buffered output is lost.
package func exitProcess(_ status: ExitStatus) -> Never {
    exit(status.rawValue)
}

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
