package socket

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/nightporter/nightporter/internal/api"
)

// OperatorHandler does what the person at the terminal asks for. Errors are
// as in SessionHandler.
type OperatorHandler interface {
	// Command carries out a line. The same key again is the same command and
	// gives the first one's answer.
	Command(ctx context.Context, c api.Command) (api.Reply, error)
	// View answers with a read model in Reply.Data.
	View(ctx context.Context, v api.View) (api.Reply, error)
}

// NewOperator is the handler of the operator's socket. Only callers that bear
// key, the content of operator.key, are heard: reaching the socket is not
// enough, because Landlock does not stop a session from connecting (SPEC
// 12.1).
func NewOperator(h OperatorHandler, key string, log *slog.Logger) http.Handler {
	const unauthorized = "the operator's key is missing or another one: only the user who runs nightporter can give commands"
	return router(key, unauthorized, log, map[string]route{
		api.PathCommand: func(r *http.Request, body []byte) (api.Reply, error) {
			c, err := decode[api.Command](body)
			if err != nil {
				return api.Reply{}, err
			}
			if c.Key == "" {
				return api.Reply{}, badRequest{"the command has no key"}
			}
			return h.Command(r.Context(), c)
		},
		api.PathView: func(r *http.Request, body []byte) (api.Reply, error) {
			v, err := decode[api.View](body)
			if err != nil {
				return api.Reply{}, err
			}
			return h.View(r.Context(), v)
		},
	})
}
