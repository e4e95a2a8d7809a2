package ledger

import (
	"fmt"
	"strings"
)

// AttachmentKind says what a person sent.
type AttachmentKind string

// Kinds of attachments.
const (
	AttachmentPhoto AttachmentKind = "photo" // a picture, as the platform made it smaller
	AttachmentFile  AttachmentKind = "file"  // a picture that was sent as a file
	AttachmentVoice AttachmentKind = "voice" // a voice note or another recording
)

// Limits of attachments.
const (
	MaxAttachment  = 20 << 20 // bytes; Telegram gives bots no larger file
	MaxAttachments = 20       // files of one guidance item, answer or addition
)

// Attachment is a file that a person sent with their words. Its bytes lie beside the
// ledger, under their hash, and can be erased without breaking the chain.
type Attachment struct {
	Hash string         `json:"hash"` // SHA-256 of the bytes, as hex
	Kind AttachmentKind `json:"kind"`
	Type string         `json:"type"` // media type, by the bytes: "image/jpeg"
	Size int64          `json:"size"` // bytes
	Name string         `json:"name,omitempty"`
}

// Picture reports whether sessions get the file.
func (a Attachment) Picture() bool { return strings.HasPrefix(a.Type, "image/") }

// FileName returns the name that the file has in the CONTEXT folder of sessions:
// "g17-1.jpg" for the first file of g17.
func (a Attachment) FileName(to string, n int) string {
	_, ext, _ := strings.Cut(a.Type, "/")
	if ext == "jpeg" {
		ext = "jpg"
	}
	return fmt.Sprintf("%s-%d.%s", to, n, ext)
}
