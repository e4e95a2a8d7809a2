package ledger

// IdeaTaken records a person's idea, from which a session is to make a plan. Nothing is
// written into the source before somebody agrees to that plan (docs/spec 3.9).
type IdeaTaken struct {
	ID       string   `json:"id"` // "i1"
	Words    string   `json:"words"`
	By       string   `json:"by,omitempty"` // name of the person
	Settings Settings `json:"settings"`     // of the run that works the plan; its source is the one that gets the tasks
}

// IdeaPlanned records the plan that a session proposes for an idea.
type IdeaPlanned struct {
	ID      string `json:"id"` // of IdeaTaken
	Summary string `json:"summary,omitempty"`
	Tasks   []Task `json:"tasks"` // their ids and DependsOn hold within the plan only
}

// IdeaChanged records that a person wants another plan for an idea.
type IdeaChanged struct {
	ID    string `json:"id"` // of IdeaTaken
	Words string `json:"words"`
	By    string `json:"by,omitempty"`
}

// IdeaAccepted records that a person agrees to the plan of an idea. Its tasks are
// added to the source, and a run starts.
type IdeaAccepted struct {
	ID       string `json:"id"`       // of IdeaTaken
	Addition string `json:"addition"` // of TasksAsked
	By       string `json:"by,omitempty"`
}

// IdeaEnded records the end of an idea.
type IdeaEnded struct {
	ID      string   `json:"id"`                // of IdeaTaken
	Outcome IdeaEnd  `json:"outcome"`           // why it is over
	Tasks   []string `json:"tasks,omitempty"`   // ids that the source gave the tasks of the plan
	Text    string   `json:"text,omitempty"`    // why there is no plan, or why the source does not take it
	Remedy  string   `json:"remedy,omitempty"`  // of Text
	Started bool     `json:"started,omitempty"` // a run starts with it; false = one under way takes it, or none
}

// IdeaEnd is the reason why an idea is over.
type IdeaEnd string

// Ends of an idea.
const (
	IdeaWritten IdeaEnd = "written" // its tasks are in the source
	IdeaDropped IdeaEnd = "dropped" // by a person, or nobody answered in time
	IdeaFailed  IdeaEnd = "failed"  // there is no plan, or the source does not take it
)
