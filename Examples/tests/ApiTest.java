// A test of an API with mock-authority, which is in PATH, for JUnit 5: copy Program, and start your own API.
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiTest {
    /** A program that runs, and the first line that it prints: JSON with addresses, issuers, users, clients. */
    record Program(Process process, String line) {
        static Program start(String program, Map<String, String> settings, String... arguments) {
            var builder = new ProcessBuilder(program);
            builder.command().addAll(List.of(arguments));
            builder.environment().putAll(settings);
            try {
                var process = builder.start(); // mock-authority ends with this process, however that ends
                return new Program(process, process.inputReader().readLine());
            } catch (IOException error) {
                throw new java.io.UncheckedIOException(error);
            }
        }

        /** The first value of this name in the line. */
        String value(String name) {
            return Pattern.compile('"' + name + "\":\"([^\"]*)").matcher(line).results().findFirst().orElseThrow().group(1);
        }
    }

    static final Program AUTHORITY = Program.start("mock-authority", Map.of(),
        "--listen", "127.0.0.1:0", "--print-ready", "--end-with-input");
    static final Program API = Program.start("task-server", Map.of(
        "TASKS_AUTHORITY", AUTHORITY.value("address") + "/" + AUTHORITY.value("tenant"), "TASKS_POLICIES", "b2c_1_sign_in",
        "TASKS_CLIENT_ID", AUTHORITY.value("id"), "TASKS_LISTEN", "127.0.0.1:0", "TASKS_ADMIN_LISTEN", "off",
        "TASKS_DATABASE", "memory:", "TASKS_PUBLIC", "off"));

    static java.net.http.HttpResponse<String> get(String url, String token) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url)).header("Authorization", "Bearer " + token).build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    @AfterAll static void stop() { List.of(AUTHORITY, API).forEach(each -> each.process().destroy()); }

    @ParameterizedTest @CsvSource({"'',200", "&bad=expired,401", "&bad=wrong-aud,401", "&bad=bad-signature,401"})
    void takesAGoodTokenAndRefusesBadOnes(String query, int expected) throws Exception {
        var token = get(AUTHORITY.value("controls") + "/token?user=alice" + query, "").body();
        int status;
        do status = get("http://" + API.value("listen") + "/api/tasks", token).statusCode();
        while (status == 503); // task-server has no keys yet
        assertEquals(expected, status);
    }
}
