package socket

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// refuseTime is how long Refuse serves. What waits at the socket is there at once.
const refuseTime = 200 * time.Millisecond

// Refuse answers the requests that wait at a listener of the service manager
// with the reason why nightporter does not start, and closes it. A request that
// stays there would make the manager start this program again at once, and in the
// end give the socket up.
func Refuse(l net.Listener, reason string, log *slog.Logger) {
	s := Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeReply(w, http.StatusInternalServerError, refuse(reason))
	}), log)
	time.Sleep(refuseTime)
	ctx, cancel := context.WithTimeout(context.Background(), refuseTime)
	defer cancel()
	_ = s.Close(ctx) // callers that are cut off ask again
}
