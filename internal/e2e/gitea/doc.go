// Package gitea runs a real Gitea on 127.0.0.1 for end-to-end tests: git over HTTP
// and SSH, its REST interface, and a SQLite database that is gone with it.
//
//   - build.sh: builds the server once, from the Go module proxy
//   - server.go: Server, from its start to its end
//   - world.go: accounts, repositories, commits and statuses
//
// The server never runs as root: started by root, it runs as the account nobody. It
// ends with the process that started it, however that ends, because it watches a
// pipe that only this process holds open.
package gitea
