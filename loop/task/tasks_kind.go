package task

import (
	"encoding/json"
	"path"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/jsonform"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// KindTasks is the KIND of a tasks.json, as in "tasks:PATH".
const KindTasks = "tasks"

// Places of task files and of what belongs to them, relative to the repository.
const (
	tasksFile       = "tasks.json"
	taskMasterFile  = ".taskmaster/tasks/tasks.json"
	taskMasterState = "state.json" // beside the folder of the file
	wreckItConfig   = ".wreck-it/config.toml"
)

// tasksKind is the row of tasks.json: wreck-it's, and Task Master's.
var tasksKind = Kind{
	Name:     KindTasks,
	Labels:   NoLabels,
	Endings:  []string{".json"},
	Default:  tasksFile,
	Push:     "never",
	Order:    ledger.OrderScore,
	Form:     jsonform.Tasks{},
	Open:     openTasks,
	Lint:     markdown.Lint,
	Find:     findTasks,
	Statuses: jsonform.Statuses,
	Example:  KindTasks + ":" + tasksFile,
	Folder:   ".",
	Sample: &Sample{
		Path: tasksFile,
		Text: sampleTasks,
		Form: []string{
			`{ "id": "1", "description": "What is to be done", "status": "pending" }`,
		},
	},
}

// sampleTasks is harmless: its only task writes one new page.
const sampleTasks = `[
  {
    "id": "1",
    "description": "Say how to build and test this. CONTRIBUTING.md names the command that builds and the one that tests, each tried. Change nothing else.",
    "status": "pending"
  }
]
`

// openTasks opens a tasks.json. Of Task Master's file the tag counts that is
// current now, for as long as the source is open: a switch in the night must not
// exchange the tasks of a run.
func openTasks(k *Kind, path, repo string, opts Options) (Source, error) {
	source, err := openFile(k, path, repo, opts)
	if err != nil {
		return nil, err
	}
	s := source.(*fileSource)
	s.form = jsonform.Tasks{Tag: currentTag(s.repo, s.rel)}
	return s, nil
}

// currentTag returns the tag that Task Master's state names, "" where there is none.
// file is slash-separated and relative to the repository.
func currentTag(repo, file string) string {
	base := path.Dir(path.Dir(file))
	if path.Base(base) != path.Dir(path.Dir(taskMasterFile)) {
		return ""
	}
	data, err := readBelow(repo, path.Join(base, taskMasterState))
	var state struct {
		CurrentTag string `json:"currentTag"`
	}
	if err != nil || json.Unmarshal(data, &state) != nil {
		return ""
	}
	return state.CurrentTag
}

// findTasks returns the task files in their usual places, and those that wreck-it's
// configuration names.
func findTasks(repo string) ([]string, error) {
	paths := append([]string{tasksFile, taskMasterFile, "tasks/tasks.json"}, wreckItFiles(repo)...)
	return findRecognised(repo, jsonform.Tasks{}, paths), nil
}

// wreckItFiles returns the task files in wreck-it's configuration. One that cannot be
// read names none: init looks only for what it can propose.
func wreckItFiles(repo string) []string {
	data, err := readBelow(repo, wreckItConfig)
	var config struct {
		TasksDir string `toml:"tasks_dir"`
		Ralphs   []struct {
			TaskFile string `toml:"task_file"`
		} `toml:"ralphs"`
	}
	if err != nil || toml.Unmarshal(data, &config) != nil {
		return nil
	}
	var paths []string
	for _, r := range config.Ralphs {
		if p := path.Join(config.TasksDir, r.TaskFile); r.TaskFile != "" && filepath.IsLocal(filepath.FromSlash(p)) {
			paths = append(paths, p)
		}
	}
	return paths
}
