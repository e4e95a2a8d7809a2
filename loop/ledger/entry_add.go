package ledger

// TasksAsked records that somebody wants tasks added to a source. EffectAddTasks
// writes them.
type TasksAsked struct {
	ID     string    `json:"id"` // "a3"
	Repo   string    `json:"repo"`
	Source SourceRef `json:"source"`
	Tasks  []Task    `json:"tasks"`
	By     string    `json:"by,omitempty"`    // name of the person; "" for a session's
	After  string    `json:"after,omitempty"` // id of the addition that it replaces: it is written once that is out
}

// TasksAdded records what became of TasksAsked.
type TasksAdded struct {
	ID     string   `json:"id"`              // of TasksAsked
	Tasks  []string `json:"tasks,omitempty"` // ids that the source gave them, in order; none after an Error
	Text   string   `json:"text,omitempty"`  // that was written into the file, for an undo; "" = it is not in one piece
	Place  int      `json:"place,omitempty"` // place of the first of them among the tasks that wait, from 1; 0 = no run takes it
	Found  bool     `json:"found,omitempty"` // the source had them already: nothing was written
	Error  string   `json:"error,omitempty"` // why the source does not take them; "" = it has them
	Remedy string   `json:"remedy,omitempty"`
}

// TasksUnasked records that a person wants added tasks taken out again.
// EffectRemoveTasks does so.
type TasksUnasked struct {
	ID string `json:"id"` // of TasksAsked
}

// TasksRemoved records what became of TasksUnasked.
type TasksRemoved struct {
	ID    string `json:"id"`              // of TasksAsked
	Error string `json:"error,omitempty"` // why they stay; "" = they are out
}
