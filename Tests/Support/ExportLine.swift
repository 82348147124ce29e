/// The line of an export for a task that was added and changed at one moment, with further members at its end.
package func exportLine(_ owner: String, _ id: Int, _ text: String = "t", _ more: String = "") -> String {
    #"{"owner":"\#(owner)","id":\#(id),"text":"\#(text)","completed":false,"#
        + #""created":"2016-08-30T16:48:40.123Z","modified":"2016-08-30T16:48:40.123Z","revision":1\#(more)}"#
}
