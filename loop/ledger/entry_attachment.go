package ledger

// FilesAttached records files that a person sent with guidance ("g17"), with the
// answer to a question ("q5") or with added tasks ("a3"), and the sending of more of
// them later. The entry of an answer has the task.
type FilesAttached struct {
	To    string       `json:"to"`
	Files []Attachment `json:"files,omitempty"` // none where what was sent could not be kept
	Album string       `json:"album,omitempty"` // address of the chat and id of the album: later files of it belong to the same
}

// FilesErased records that a person had files erased. EffectErase does so. Whatever
// else the same bytes were attached to lacks them as well.
type FilesErased struct {
	To     string   `json:"to"`
	Hashes []string `json:"hashes"`
	By     string   `json:"by,omitempty"`
}

// VoiceHeard records what a recording was understood as. Its FilesAttached has the id,
// "v3".
type VoiceHeard struct {
	ID    string `json:"id"`
	Text  string `json:"text,omitempty"`
	As    string `json:"as,omitempty"`    // what the words became: "g18", or the question that they answer
	Error string `json:"error,omitempty"` // why they became nothing
	By    string `json:"by,omitempty"`
}
