// Package socket is the server of the two Unix sockets, a session's
// (ServeSession) and the operator's (NewOperator), and the operator's client. The
// contract is package api.
//
//	listen.go activate.go               sockets: create, take from systemd
//	limit.go rate.go                    limits of connections, of calls; the refused are counted
//	server.go request.go                one server; checks of a request, replies
//	session.go operator.go metrics.go   handlers of the two sockets, and GET /metrics
//	client.go key.go                    the operator's client and key
//
// A request is checked in this order, and the first failure is the answer:
// version (426), token (401), path (404), method (405), size (413), rate (429),
// JSON (400). Then the handler decides; its refusals are replies with status 200.
//
// Sessions are hostile input. Every read has a deadline and every size a limit,
// and each session has its own listener and rate (docs/spec 12.4), so that a
// session can starve only itself. The tests hold that slow, silent, malformed and
// flooding callers neither block nor leak, and that a request in progress is
// answered before Close returns.
package socket
