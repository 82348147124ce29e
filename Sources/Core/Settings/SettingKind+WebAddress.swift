package import Basics

extension SettingKind {
    /// Takes an absolute `https` URL without a fragment; the table decides whether plain `http` is good.
    package static func webAddress(example: String) -> SettingKind where Value == WebAddress {
        SettingKind(
            placeholder: "URL", expected: "a URL with https:// (http:// only on this machine)", example: example
        ) { text in WebAddress(text).flatMap { $0.hasFragment ? nil : $0 } }
    }
}
