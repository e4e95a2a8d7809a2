package socket

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/nightporter/nightporter/internal/api"
)

// Kinds of SessionHandler.Note.
const (
	KindNote   = "note"   // hat note
	KindMemory = "memory" // hat memory; an empty text lists the memory
)

// SessionHandler carries out the requests of a session. The socket and its
// token identify the session, never the request. A refusal is a Reply with OK
// false. An error that is an api.ErrLater makes the caller ask again; any other
// error is internal and is logged. The handler commits before it reports
// success.
type SessionHandler interface {
	// Emit accepts the session's one event. The same type and data again yields
	// the same receipt.
	Emit(ctx context.Context, session string, e api.Emit) (api.Reply, error)
	// Task lists, shows or adds tasks.
	Task(ctx context.Context, session string, q api.TaskQuery) (api.Reply, error)
	// Guidance lists the directives given to this session.
	Guidance(ctx context.Context, session string) (api.Reply, error)
	// Note keeps a text, or lists the texts kept; kind is KindNote or
	// KindMemory.
	Note(ctx context.Context, session, kind string, n api.Note) (api.Reply, error)
	// Session returns the receipt of the session's accepted event. Before that
	// event, its text names what is missing.
	Session(ctx context.Context, session string) (api.Reply, error)
	// Write returns a text if changes of the file would be undone after the session. It
	// returns the text once for each file; its permission is no gate.
	Write(ctx context.Context, session string, w api.Write) (api.Reply, error)
	// Throttled is called once for a session that keeps calling after refusals,
	// with the number of those.
	Throttled(ctx context.Context, session string, refused int)
}

// newSession returns the handler of one session's socket, for callers with the
// token.
func newSession(h SessionHandler, token, session string, log *slog.Logger, m *meter) http.Handler {
	note := func(kind string) route {
		return typed(func(r *http.Request, n api.Note) (api.Reply, error) { return h.Note(r.Context(), session, kind, n) })
	}
	const unauthorized = "this token is not this session's: the session that it was made for has ended, or HAT_TOKEN was changed"
	return router(token, unauthorized, log, m, map[string]route{
		api.PathEmit: typed(func(r *http.Request, e api.Emit) (api.Reply, error) {
			if e.Type == "" {
				return api.Reply{}, badRequest{"the event has no type"}
			}
			if len(e.Data) > api.MaxEvent {
				return api.Reply{}, badRequest{fmt.Sprintf("the event has %d bytes, at most %d are taken: send what matters most; the rest can wait for another round", len(e.Data), api.MaxEvent)}
			}
			return h.Emit(r.Context(), session, e)
		}),
		api.PathTask:     typed(func(r *http.Request, q api.TaskQuery) (api.Reply, error) { return h.Task(r.Context(), session, q) }),
		api.PathGuidance: typed(func(r *http.Request, _ api.Empty) (api.Reply, error) { return h.Guidance(r.Context(), session) }),
		api.PathNote:     note(KindNote),
		api.PathMemory:   note(KindMemory),
		api.PathSession:  typed(func(r *http.Request, _ api.Empty) (api.Reply, error) { return h.Session(r.Context(), session) }),
		api.PathWrite:    typed(func(r *http.Request, w api.Write) (api.Reply, error) { return h.Write(r.Context(), session, w) }),
	})
}
