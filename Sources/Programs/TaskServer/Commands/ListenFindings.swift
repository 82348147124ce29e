import Basics
import HTTPServer
import Platform
import Settings

/// Whether the server could listen at its addresses; port 0 is always free.
func listenFindings(_ settings: ServerSettings) -> [Finding] {
    var wanted = settings.listen.map { ("TASKS_LISTEN", $0, settings.transport.isSecure) }
    if let address = settings.adminListen { wanted.append(("TASKS_ADMIN_LISTEN", address, false)) }
    return wanted.indices.filter { wanted[$0].1.port != 0 }.map { index in
        let (setting, address, isSecure) = wanted[index]
        // The system does not tell: it lets both be bound, and refuses the second one that listens.
        if let other = wanted[..<index].first(where: { $0.1.excludes(address) })?.1 {
            let fault = other == address ? "is named twice" : "and \(other) exclude each other"
            return .wrong("listen: \(setting): \(address) \(fault); choose another port")
        }
        return finding(setting, address, isSecure, onlyIPv6: address.leavesIPv4(to: settings.listen))
    }
}

private func finding(_ setting: String, _ address: ListenAddress, _ isSecure: Bool, onlyIPv6: Bool) -> Finding {
    do throws(OperatorError) {
        _ = try ServerSocket(bindingTo: address.host, port: address.port, onlyIPv6: onlyIPv6)
        return .good("listen: \(address) is free")
    } catch {
        if error == .addressInUse, isServerAlive(at: address, overTLS: isSecure) {
            return .good("listen: \(address) is in use by a task-server that runs")
        }
        return .wrong("listen: \(setting): cannot listen on \(address): \(error.message)")
    }
}
