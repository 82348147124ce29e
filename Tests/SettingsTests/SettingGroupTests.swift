import Basics
import Settings
import Testing

private struct GroupedSettings: SettingTable {
    struct Source: Sendable {
        let name: String?
        let authority: String?
        let clients: [String]
        let owners: String?

        init(reading reader: inout SettingReader, name: String?) {
            self.name = name
            authority = reader.optional("AUTHORITY", .path, help: "Where.")
            clients = reader.list("CLIENT_ID", .path, help: "For whom.")
            owners = name == nil ? nil : reader.value("OWNERS", .path, default: "own", help: "Whose tasks.")
            if authority == nil, name != nil { reader.mistake("\(reader.variable("AUTHORITY")) is not set.") }
        }
    }

    static let prefix = "TASKS_"
    let first: Source
    let sources: [Source]

    init(reading reader: inout SettingReader) {
        first = Source(reading: &reader, name: nil)
        sources = reader.groups("SOURCE", help: "Further sources.") { Source(reading: &$0, name: $1) }
    }
}

@Suite("Settings that exist once for each name")
struct SettingGroupTests {
    @Test func `Named groups are read from variables and flags, and - in a name is _ in a variable (P-1)`() throws {
        let values = try GroupedSettings.read(
            ["--source-my-work-client-id", "w1", "--source-my-work-client-id=w2"],
            [
                "TASKS_AUTHORITY": "zero", "TASKS_SOURCES": "ext,my-work", "TASKS_SOURCE_EXT_AUTHORITY": "one",
                "TASKS_SOURCE_MY_WORK_AUTHORITY": "two", "TASKS_SOURCE_MY_WORK_OWNERS": "shared",
            ]
        ).values
        #expect(values.first.authority == "zero" && values.sources.map(\.name) == ["ext", "my-work"])
        #expect(values.sources.map(\.authority) == ["one", "two"])
        #expect(values.sources[1].clients == ["w1", "w2"] && values.sources.map(\.owners) == ["own", "shared"])
    }

    @Test func `They are printed under their names (P-1)`() throws {
        let printed = try GroupedSettings.read([], ["TASKS_SOURCES": "ext", "TASKS_SOURCE_EXT_AUTHORITY": "one"])
            .printed
        for line in [
            "# source ext\nTASKS_SOURCE_EXT_AUTHORITY=one  # environment\n", "TASKS_SOURCE_EXT_OWNERS=own  # default\n",
        ] {
            #expect(printed.contains(line), "\(printed)")
        }
        #expect(!printed.contains("NAME"))
    }

    @Test("Sources that are unknown, named twice or incomplete are mistakes, with the name of the setting (P-1)")
    func wrong() throws {
        let ext = ["TASKS_SOURCES": "ext", "TASKS_SOURCE_EXT_AUTHORITY": "one"]
        #expect(GroupedSettings.mistakes([], ext) == [])
        for (environment, expected) in [
            ["TASKS_SOURCE_EXT_AUTHORITY": "one"]:
                "TASKS_SOURCE_EXT_AUTHORITY is no setting of this program. "
                + "It is for a source that TASKS_SOURCES does not name.",
            ["TASKS_SOURCES": "ext,ext"]: "TASKS_SOURCES: the source ext is named twice; name it once.",
            ["TASKS_SOURCES": "Ext"]: "TASKS_SOURCES: 'Ext' is not a name of 1 to 16 of a-z, 0-9 and -. Example: ext",
            ["TASKS_SOURCES": "seventeen-letters"]:
                "TASKS_SOURCES: 'seventeen-letters' is not a name of 1 to 16 of a-z, 0-9 and -. Example: ext",
            ["TASKS_SOURCES": "work"]: "TASKS_SOURCE_WORK_AUTHORITY is not set.",
            ["TASKS_SOURCE_EXT_CLIENTID": "x"]:
                "TASKS_SOURCE_EXT_CLIENTID is no setting of this program. Did you mean TASKS_SOURCE_EXT_CLIENT_ID?",
        ] {
            let first = environment.keys.contains("TASKS_SOURCE_EXT_AUTHORITY") ? [:] : ext
            #expect(
                GroupedSettings.mistakes([], first.merging(environment) { $1 }).contains(expected), "\(environment)")
        }
        #expect(
            GroupedSettings.mistakes(["--source-work-authority", "x"], ext) == [
                "--source-work-authority is no flag of this program. It is for a source that TASKS_SOURCES does not name."
            ])
    }

    @Test func `The help shows the words of groups once`() {
        let help = GroupedSettings.helpText
        #expect(help.contains("--source-name-word VALUE\n"), "\(help)")
        #expect(help.contains("WORD is one of AUTHORITY, CLIENT_ID."), "\(help)")
        #expect(help.contains("--source-name-owners PATH\n        Whose tasks.\n        [TASKS_SOURCE_NAME_OWNERS;"))
        #expect(help.components(of: "AUTHORITY]") == 1)
    }
}

extension String {
    fileprivate func components(of text: String) -> Int {
        self.split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
