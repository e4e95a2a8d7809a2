package loop

import (
	"slices"
	"testing"
)

// TestSilentServices: how programs say that nothing listens at a port of this machine.
func TestSilentServices(t *testing.T) {
	for output, want := range map[string][]string{
		"dial tcp 127.0.0.1:5432: connect: connection refused":                                                   {"127.0.0.1:5432"},
		"Error: connect ECONNREFUSED ::1:6379\nError: connect ECONNREFUSED 127.0.0.1:6379":                       {"127.0.0.1:6379"},
		`connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused`:                  {"127.0.0.1:5432"},
		`connection to server at "localhost" (::1), port 5433 failed: Connection refused`:                        {"127.0.0.1:5433"},
		"Connection to localhost:5434 refused. Check that the hostname and port are correct":                     {"127.0.0.1:5434"},
		"Error 111 connecting to localhost:6380. Connection refused.":                                            {"127.0.0.1:6380"},
		"Can't connect to MySQL server on '127.0.0.1:3306' (111)":                                                {"127.0.0.1:3306"},
		"curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Connection refused":                      {"127.0.0.1:8080"},
		"dial tcp [::1]:9200: connect: connection refused; dial tcp 127.0.0.1:9300: connect: connection refused": {"127.0.0.1:9200", "127.0.0.1:9300"},
		"listening on 127.0.0.1:5432":                           nil,
		"dial tcp 10.0.0.5:5432: connect: connection refused":   nil,
		"dial tcp 127.0.0.1:99999: connect: connection refused": nil,
		"permission refused for user localhost":                 nil,
		"":                                                      nil,
	} {
		if got := silentServices(output); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", output, got, want)
		}
	}
}
