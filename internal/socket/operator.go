package socket

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/nightporter/nightporter/internal/api"
)

// OperatorHandler carries out the requests of the operator's socket. Its errors
// are those of SessionHandler.
type OperatorHandler interface {
	// Command carries out a line. Commands with the same key are one command,
	// and get the first one's reply.
	Command(ctx context.Context, c api.Command) (api.Reply, error)
	// View returns a read model in Reply.Data.
	View(ctx context.Context, v api.View) (api.Reply, error)
}

// NewOperator returns the handler of the operator's socket. It requires key,
// the content of operator.key: access to the socket is not enough, because
// Landlock does not stop a session from connecting.
func NewOperator(h OperatorHandler, key string, log *slog.Logger) http.Handler {
	const unauthorized = "the operator's key is missing or another one: only the user who runs nightporter can give commands"
	return router(key, unauthorized, log, nil, map[string]route{
		api.PathCommand: typed(func(r *http.Request, c api.Command) (api.Reply, error) {
			if c.Key == "" {
				return api.Reply{}, badRequest{"the command has no key"}
			}
			return h.Command(r.Context(), c)
		}),
		api.PathView: typed(func(r *http.Request, v api.View) (api.Reply, error) { return h.View(r.Context(), v) }),
	})
}
