package inbound

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/words"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Files are loaded when a command takes them, before its input is decided, and their
// bytes are on the disk before the entry that names them. Until then the update is not
// confirmed. While that keeps failing on its way, later updates of the chat wait, so it
// has a bound: then the words are taken, and the reply says that the file was not.
const (
	loadTime = 20 * time.Second // for one file
	maxLoads = 3                // tries
)

// maxSpoken is the longest recording that is turned into words.
const maxSpoken = 5 * time.Minute

// wordsToHear stand for what a recording says until that is known.
const wordsToHear = "What the recording says."

// errNotLoaded means that a file could not be loaded for now. The platform delivers
// the update again.
var errNotLoaded = errors.New("a file of it cannot be loaded for now")

// takesFiles reports whether the decision on an input may record files.
func takesFiles(b loop.InputBody) bool {
	switch b := b.(type) {
	case loop.Guide, loop.AttachMore, loop.HearVoice:
		return true
	case loop.Now:
		return strings.TrimSpace(b.Text) != ""
	case loop.AnswerQuestion:
		return strings.TrimSpace(b.Words) != ""
	case loop.AddTasks, loop.EditAdd, loop.RedoTask, loop.TakeIdea:
		return true
	}
	return false
}

// wordless reports whether the input is an attachment and nothing else.
func (v *request) wordless() bool { return v.in.Media && strings.TrimSpace(v.in.Text) == "" }

// pictures reports whether a file of the input may be a picture.
func (v *request) pictures() bool {
	return v.o.Fetch != nil && v.o.Files != nil && v.in.Press == "" && slices.ContainsFunc(v.in.Files, func(f bot.RemoteFile) bool { return f.Kind != ledger.AttachmentVoice })
}

// spoken reports whether the input is a recording, with a caption or without.
func (v *request) spoken() bool {
	return v.in.Media && len(v.in.Files) > 0 && !slices.ContainsFunc(v.in.Files, func(f bot.RemoteFile) bool { return f.Kind != ledger.AttachmentVoice })
}

// heard reports whether the input is a recording that is turned into words.
func (v *request) heard() bool {
	return v.spoken() && v.in.Press == "" && v.o.Fetch != nil && v.o.Files != nil && v.o.Transcribes != nil && v.o.Transcribes()
}

// withSpoken completes a caption by wordsToHear where the recording says the words of
// it: of guidance, /now, /add, /bug, and of an answer. Any other command has no use for it.
func (v *request) withSpoken(caption string) string {
	c, err := bot.Parse(caption)
	first, _, _ := strings.Cut(strings.ToLower(c.Words), " ")
	switch {
	case errors.Is(err, bot.ErrEmpty):
	case err != nil:
		return caption
	case c.Verb == bot.VerbGuidance, c.Verb == bot.VerbNow, c.Verb == bot.VerbBug:
	case c.Verb == bot.VerbAdd && first != "undo" && first != "edit":
	case c.Verb == bot.VerbAnswer && (c.Words == "" || v.takesWords(c.Target, first)):
	case c.Verb == bot.VerbWords && words.Read(c.Words).Intent == words.Guidance:
	default:
		return caption
	}
	return strings.TrimSpace(caption + " " + wordsToHear)
}

// takesWords reports whether a verb of a question is followed by words.
func (v *request) takesWords(question, verb string) bool {
	s, _ := v.o.Service.State(bot.ProjectOf(v.o.Service, question))
	q, _ := s.Project.Question(question)
	of, is := q.Verb(verb)
	return is && of.Words != ledger.WordsNone
}

// hears reports whether the recording says the words of a line.
func (v *request) hears(line string) bool { return v.heard() && strings.HasSuffix(line, wordsToHear) }

// hear replaces a command that would take wordsToHear by one that has the recording
// turned into words first.
func (v *request) hear(b loop.InputBody) loop.InputBody {
	if !v.hears(v.line) {
		return b
	}
	said := func(text string) (words string) { return strings.TrimSpace(strings.TrimSuffix(text, wordsToHear)) }
	of := ledger.Spoken{}
	switch b := b.(type) {
	case loop.Guide:
		of.Address, of.Words = guidanceWithout(said(b.Text))
	case loop.Now:
		of.Command = ledger.SpokenNow
		of.Address, of.Words = guidanceWithout(said(b.Text))
	case loop.AddTasks:
		c, _ := bot.Parse(v.line) // it was handled
		of.Command, of.Words, of.Repo, of.Source = ledger.SpokenAdd, said(c.Words), b.Repo, b.Source
		if c.Verb == bot.VerbBug {
			of.Command = ledger.SpokenBug
		}
	case loop.AnswerQuestion:
		of.Question, of.Choice, of.Words = b.Question, b.Choice, said(b.Words)
	default:
		return b
	}
	return loop.HearVoice{Spoken: of}
}

// guidanceWithout parts the address of guidance from its words.
func guidanceWithout(text string) (address, rest string) {
	_, rest = guidance.Parse(text)
	return strings.TrimSuffix(text, rest), rest
}

// load loads the input's pictures and puts them on the disk.
func (v *request) load(ctx context.Context) error {
	if v.tried || !v.pictures() && !v.heard() {
		return nil
	}
	var files []ledger.Attachment
	defer func() { v.files = files }()
	for _, f := range v.in.Files {
		data, why, err := v.loadOne(ctx, f)
		if err != nil {
			return err
		}
		typ, kept := pictureType(data)
		if f.Kind == ledger.AttachmentVoice {
			typ, kept = recordingType(f.Type), true
		}
		switch {
		case why == "" && !kept:
			why = "Only pictures reach a session: PNG, JPEG, GIF or WebP."
			fallthrough
		case why != "":
			v.why = append(v.why, why)
			continue
		}
		hash, err := v.o.Files.Put(data)
		if err != nil {
			return err
		}
		files = append(files, ledger.Attachment{Hash: hash, Kind: f.Kind, Type: typ, Size: int64(len(data)), Name: bot.Cut(bot.Clean(f.Name), 80)})
	}
	v.tried = true
	return nil
}

// loadOne loads one file, or returns why it is not kept.
func (v *request) loadOne(ctx context.Context, f bot.RemoteFile) (data []byte, why string, err error) {
	const megabyte = 1 << 20
	big := fmt.Sprintf("It is too large: %d MB are the most.", ledger.MaxAttachment/megabyte)
	switch {
	case f.Kind == ledger.AttachmentVoice && !v.heard():
		return nil, "Only words and pictures reach a session.", nil
	case f.Duration > maxSpoken:
		return nil, fmt.Sprintf("It is %.0f minutes long; %.0f are the most.", f.Duration.Minutes(), maxSpoken.Minutes()), nil
	case f.Size > ledger.MaxAttachment:
		return nil, big, nil
	case f.Kind == ledger.AttachmentVoice:
	case f.Type != "" && !strings.HasPrefix(f.Type, "image/"):
		return nil, "", nil // no picture; load says so
	}
	within, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	data, err = v.o.Fetch(within, f)
	switch {
	case err == nil && len(data) > ledger.MaxAttachment:
		return nil, big, nil
	case err == nil:
		return data, "", nil
	case ctx.Err() != nil:
		return nil, "", err
	}
	v.o.Log.Warn("a file could not be loaded", "key", v.in.Key, "error", err)
	if !errors.Is(err, bot.ErrRejected) && v.countLoad() < maxLoads {
		return nil, "", errNotLoaded
	}
	var refused *bot.SendError
	if errors.As(err, &refused) && errors.Is(err, bot.ErrRejected) {
		return nil, "It could not be loaded: " + bot.Cut(bot.Clean(refused.Text), 120) + ".", nil
	}
	return nil, "It could not be loaded; send it again.", nil
}

// countLoad counts a failure to load a file of the input, and returns its failures in
// a row.
func (v *request) countLoad() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unread != v.in.Key {
		v.unread, v.loads = v.in.Key, 0
	}
	v.loads++
	return v.loads
}

// pictureType returns the media type of a picture by its first bytes.
func pictureType(data []byte) (typ string, ok bool) {
	begins := func(magic string) bool { return strings.HasPrefix(string(data[:min(len(data), 16)]), magic) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return "image/png", true
	case begins("\xff\xd8\xff"):
		return "image/jpeg", true
	case begins("GIF87a"), begins("GIF89a"):
		return "image/gif", true
	case begins("RIFF") && len(data) > 12 && string(data[8:12]) == "WEBP":
		return "image/webp", true
	}
	return "", false
}

// recordingType returns a media type as it is known for the names of files.
func recordingType(typ string) string {
	typ, _, _ = strings.Cut(typ, ";")
	switch typ = strings.TrimPrefix(strings.ToLower(typ), "audio/"); typ {
	case "mpeg", "mp3":
		return "audio/mp3"
	case "mp4", "m4a", "x-m4a", "aac":
		return "audio/m4a"
	case "wav", "x-wav", "wave", "vnd.wave":
		return "audio/wav"
	case "webm", "flac":
		return "audio/" + typ
	}
	return "audio/ogg" // Telegram's own
}

// settle keeps the loaded files that the ledger has since a decision, and takes back
// the others. After an error nobody knows what it has.
func (v *request) settle(a ledger.Answer, err error) {
	v.taken = a.Attached
	for n, f := range v.files {
		switch {
		case err != nil:
			v.o.Files.Leave(f.Hash)
			continue
		case n < a.Attached:
			err := v.o.Files.Settle(f.Hash)
			if err != nil {
				v.o.Log.Warn("a file keeps its first name until the next start", "error", err)
			}
			continue
		}
		v.drop(f)
	}
	v.files = nil
}

// discard takes back what was loaded for nothing.
func (v *request) discard() {
	for _, f := range v.files {
		v.drop(f)
	}
	v.files = nil
}

func (v *request) drop(f ledger.Attachment) {
	if err := v.o.Files.Discard(f.Hash); err != nil {
		v.o.Log.Warn("a file stays until the next start", "error", err)
	}
}

// albumKey identifies the album of the input, "" for none.
func (v *request) albumKey() string {
	if v.in.Album == "" {
		return ""
	}
	return v.in.Chat + " " + v.in.Album
}

// restOfAlbum returns what the earlier items of the input's album were sent with. The
// platform sends each item by itself, and the words with one of them. An item with
// words of its own joins only guidance that is still queued; a command is a command.
func (v *request) restOfAlbum() (to, project string, found bool) {
	if v.in.Album == "" || !v.pictures() || !v.who.Role.May(ledger.RoleSteer) {
		return "", "", false
	}
	for _, name := range v.o.Service.Projects() {
		s, _ := v.o.Service.State(name)
		to, found := s.Project.OfAlbum(v.albumKey())
		if !found {
			continue
		}
		i, guides := s.Project.Guidance.Get(to)
		if v.wordless() || guides && i.State == guidance.Queued && v.isSentence() {
			return to, name, true
		}
	}
	return "", "", false
}

// isSentence reports whether the input's text is neither a command nor understood as
// one.
func (v *request) isSentence() bool {
	_, is := v.command(strings.TrimSpace(v.in.Text))
	return !is && words.Read(v.in.Text).Intent == words.Guidance
}

// attachMore adds the input's files to what the earlier ones of its album were sent
// with. The receipt shows it; there is a reply only where that failed, once an album.
func (v *request) attachMore(ctx context.Context, project, to string) error {
	if err := v.load(ctx); err != nil {
		return err
	}
	v.project, v.told = project, true
	in := v.input(project, loop.AttachMore{To: to, Words: strings.TrimSpace(v.in.Text)})
	in.Role, in.Files, in.Album = v.who.Role, v.files, v.albumKey()
	a, err := v.o.Service.DoWith(ctx, in, func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		if v.taken = a.Attached; v.taken == len(v.in.Files) || !v.tellMissed() || a.Code == ledger.CodeTakenOut {
			return nil, v.in.Cursor
		}
		if !a.OK && len(v.why) == 0 {
			v.why = append(v.why, a.Text+".")
		}
		return []ledger.Outgoing{v.answer(v.mediaMessage())}, v.in.Cursor
	})
	v.settle(a, err)
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	return nil
}

// tellMissed reports whether the sender has to be told that a file of the album was not
// kept, which it does once an album. That is not stored, so a restart leads to one more.
func (v *request) tellMissed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	told := v.missed == v.albumKey()
	v.missed = v.albumKey()
	return !told
}

// withFiles returns the state with what the decision attached to an item, for messages
// that are composed on the state before it.
func (v *request) withFiles(s loop.State, to string) loop.State {
	if n := min(v.taken, len(v.files)); n > 0 {
		s.Project.Attached = append(slices.Clip(s.Project.Attached), loop.Attached{To: to, Files: v.files[:n]})
	}
	return s
}

// mediaMessage is the reply to an attachment that was not taken, or not whole.
func (v *request) mediaMessage() bot.Message {
	if v.spoken() && !v.heard() {
		return message("media", bot.SignFailed+" Not queued: a voice note", "Nothing here turns speech into words. Your keyboard's microphone does, or type it.", v.notKept())
	}
	if len(v.why) > 0 && (v.pictures() || v.heard()) {
		return message("media", bot.SignFailed+" Not kept: "+v.notKeptKind(), strings.Join(slices.Compact(slices.Clone(v.why)), " "))
	}
	return message("media", bot.SignFailed+" Not queued: only words and pictures", v.notKept())
}

// notKept returns the sentences about attachments that were not kept, "" if all were.
func (v *request) notKept() string {
	if !v.in.Media || v.taken >= max(len(v.in.Files), 1) {
		return ""
	}
	verb := "was"
	if len(v.in.Files)-v.taken > 1 {
		verb = "were"
	}
	text := fmt.Sprintf("%s %s not kept.", upper(v.notKeptKind()), verb)
	return strings.Join(slices.Compact(append([]string{text}, v.why...)), " ")
}

// notKeptKind names what was not kept: "the photo", "1 of 2 files".
func (v *request) notKeptKind() string {
	switch all := len(v.in.Files); {
	case all > 1:
		return fmt.Sprintf("%d of %d files", all-v.taken, all)
	case v.in.Kind == "":
		return "the rest"
	}
	return "the " + v.in.Kind
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// withMedia adds to a reply what became of the attachment, unless it says so itself.
// The reply's last line stays last, because it says what happens next.
func (v *request) withMedia(m bot.Message) bot.Message {
	text := v.notKept()
	if !v.in.Media || v.told {
		return m
	}
	if shows := strings.HasPrefix(m.Key, "guidance.") || strings.HasPrefix(m.Key, "add.") || strings.HasPrefix(m.Key, "voice."); v.taken > 0 && !shows {
		text = strings.TrimSpace(fmt.Sprintf("%s with it. %s", bot.Plural(v.taken, "picture"), text))
	}
	if text == "" {
		return m
	}
	at := max(len(m.Lines)-1, min(1, len(m.Lines)))
	for at < len(m.Lines) && m.Lines[at].Rest { // the first line goes on there
		at++
	}
	m.Lines = slices.Insert(slices.Clone(m.Lines), at, bot.Line{Text: text})
	return m
}
