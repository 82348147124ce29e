// Both CMicroHTTPD and Glibc have `sockaddr`; the order of compilation decides to which of them it belongs.
import Basics
import CMicroHTTPD
import Glibc

/// Returns the address in a `sockaddr` as text without port; `-` if there is none.
func text(of address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "-" }
    var family = Int32(unsafe address.pointee.sa_family)
    let offset =
        family == AF_INET6
        ? MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) : MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
    var source = unsafe UnsafeRawPointer(address) + (offset ?? 0)
    if family == AF_INET6, unsafe IPAddress(of: address).isVersion4 {
        // A listener for both families sees a client of IPv4 as ::ffff:192.0.2.1, whose last four bytes are the address.
        family = AF_INET
        unsafe source += 12
    }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
        guard let text = unsafe inet_ntop(family, source, buffer.baseAddress, socklen_t(buffer.count)) else {
            return "-"
        }
        return unsafe String(cString: text)
    }
}

extension IPAddress {
    /// Reads the address in a `sockaddr`; the unspecified address if there is none.
    init(of address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else {
            self.init(bits: 0)
            return
        }
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let bits = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            self.init(version4: UInt32(bigEndian: bits))
        case AF_INET6:
            let bytes = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(
                bits: unsafe withUnsafeBytes(of: bytes) {
                    UInt128(bigEndian: unsafe $0.loadUnaligned(as: UInt128.self))
                })
        default: self.init(bits: 0)
        }
    }
}
