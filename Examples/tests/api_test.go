// A test of an API with mock-authority, which is in PATH, for Go: copy start, and start your own API in TestAPI.
package api

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
)

type line struct {
	Address, Controls, Tenant, Issuer, Listen string
	Clients                                   []struct{ ID string }
}

// start runs a program until the end of the test, and reads the JSON of the first line that it prints.
func start(t *testing.T, program string, settings []string, arguments ...string) (first line) {
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), settings...)
	command.StdinPipe() // mock-authority ends with this process, however that ends
	output, _ := command.StdoutPipe()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	json.NewDecoder(output).Decode(&first)
	return first
}

func get(url, token string) (int, string) {
	request, _ := http.NewRequest("GET", url, nil)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func TestAPI(t *testing.T) {
	authority := start(t, "mock-authority", nil, "--listen", "127.0.0.1:0", "--print-ready", "--end-with-input")
	api := start(t, "task-server", []string{"TASKS_AUTHORITY=" + authority.Address + "/" + authority.Tenant,
		"TASKS_CLIENT_ID=" + authority.Clients[0].ID, "TASKS_POLICIES=b2c_1_sign_in", "TASKS_LISTEN=127.0.0.1:0",
		"TASKS_ADMIN_LISTEN=off", "TASKS_DATABASE=memory:", "TASKS_PUBLIC=off"})
	ask := func(query string) int {
		_, token := get(authority.Controls+"/token?user=alice"+query, "")
		status, _ := get("http://"+api.Listen+"/api/tasks", token)
		return status
	}
	for ask("") == 503 { // task-server has no keys yet
	}
	for query, expected := range map[string]int{"": 200, "&bad=expired": 401, "&bad=wrong-aud": 401, "&bad=bad-signature": 401} {
		if status := ask(query); status != expected {
			t.Errorf("%s: %d, not %d", query, status, expected)
		}
	}
}
