package socket

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/api"
)

// operatorSocket is the file name of the operator's socket in the state folder.
const operatorSocket = "nightporter.sock"

// OperatorPath returns the path of a state folder's operator socket.
func OperatorPath(state string) string { return filepath.Join(state, operatorSocket) }

// ErrNoState: no nightporter has ever listened in this state folder.
var ErrNoState = errors.New("no nightporter has run here")

// OperatorClient sends requests to the process that holds a state folder. Only
// the owner of the folder can use it: a session cannot read the key.
type OperatorClient struct{ socket, key string }

// Operator returns a client with the key of a state folder. It does not
// connect; if no process listens, the calls return api.ErrLater.
func Operator(state string) (*OperatorClient, error) {
	key, err := readKey(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoState, err)
	}
	if err != nil {
		return nil, err
	}
	return &OperatorClient{socket: OperatorPath(state), key: key}, nil
}

// Command sends a line as a person typed it. A command without a key gets a
// random one, so that a retry after a cut connection does not run it twice.
func (c *OperatorClient) Command(ctx context.Context, command api.Command) (api.Reply, error) {
	if command.Key == "" {
		command.Key = "cli:" + rand.Text()
	}
	return c.call(ctx, api.PathCommand, command)
}

// View asks for a read model.
func (c *OperatorClient) View(ctx context.Context, view api.View) (api.Reply, error) {
	return c.call(ctx, api.PathView, view)
}

// TryView is View without retries, for a caller that immediately shows that the
// daemon does not respond.
func (c *OperatorClient) TryView(ctx context.Context, view api.View) (api.Reply, error) {
	var reply api.Reply
	if err := api.Try(ctx, c.socket, c.key, api.PathView, view, &reply); err != nil {
		return api.Reply{}, fmt.Errorf("ask nightporter: %w", err)
	}
	return reply, nil
}

func (c *OperatorClient) call(ctx context.Context, path string, body any) (api.Reply, error) {
	var reply api.Reply
	if err := api.Call(ctx, c.socket, c.key, path, body, &reply); err != nil {
		return api.Reply{}, fmt.Errorf("ask nightporter: %w", err)
	}
	return reply, nil
}
