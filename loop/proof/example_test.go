package proof_test

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/proof"
)

// A session made the tests green by overwriting the script that runs them.
func Example() {
	file := func(lines ...string) proof.Content {
		return proof.Content{Data: []byte(strings.Join(lines, "\n") + "\n"), Mode: "100644"}
	}
	start := proof.Files{
		"test.sh":     file("set -e", "sh tests/a.sh", "sh tests/b.sh"),
		"tests/a.sh":  file("grep -q right out.txt"),
		"tests/b.sh":  file("test -s out.txt"),
		"out.txt":     file("right"),
		"src/main.py": file("print('right')"),
	}
	result := proof.Files{
		"test.sh":     file("exit 0"),
		"tests/a.sh":  start["tests/a.sh"],
		"out.txt":     file("wrong"),
		"src/main.py": start["src/main.py"],
	}

	set, err := proof.Find(start, proof.Project{Commands: []string{"sh test.sh"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := proof.Compare(set, start, result, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(proof.Summary(report.Changes, 3))
	if report.Guarded() {
		patch, err := proof.Overlay(set, start, result, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(patch.Write), "files to lay,", len(patch.Left), "left")
	}
	// Output:
	// 1 test deleted, test.sh +1 −3
	// 2 files to lay, 0 left
}
