package ledger

// QuestionAsked records a question with everything needed to ask it again.
type QuestionAsked struct {
	Question Question `json:"question"`
}

// ReminderDue records that a reminder of an open question is due. Each chat's
// quiet hours decide whether it gets the reminder.
type ReminderDue struct {
	ID string `json:"id"`
}

// QuestionAnswered settles a question with a person's answer.
type QuestionAnswered struct {
	ID     string   `json:"id"`
	Choice string   `json:"choice,omitempty"`
	Words  string   `json:"words,omitempty"`
	By     string   `json:"by"`
	Along  []string `json:"along,omitempty"` // tasks skipped with it: those that depend on a skipped task
}

// AnswerUndone takes an answer back. The question is open again, and a TaskSet in
// the same decision restores its task.
type AnswerUndone struct {
	Before Before `json:"before"`
	By     string `json:"by"`
}

// QuestionExpired settles a question without a person's answer: its time is over,
// or there is nothing left to ask.
type QuestionExpired struct {
	ID     string `json:"id"`
	Choice string `json:"choice,omitempty"` // the answer that settled it; "" = its task keeps waiting
	Then   string `json:"then"`
}
