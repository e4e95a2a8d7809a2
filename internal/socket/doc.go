// Package socket is the server's side of the two Unix sockets: the one that
// each session finds (NewSession) and the operator's (NewOperator), and the
// operator's client. The contract itself is package api.
//
// A request is looked at in this order, and the first objection is the
// answer: version (426), token (401), path (404), method (405), size (413),
// JSON (400). What is left is the handler's to decide; its refusals are
// answers like any other, with status 200. Sessions are hostile input
// (SPEC 12.3): every read has a deadline and every size a limit, and one
// session's connections are its own listener's, so that it can starve nobody
// but itself.
package socket
