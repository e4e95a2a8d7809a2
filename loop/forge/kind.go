package forge

import "github.com/nightporter/nightporter/loop/ledger"

// Kind is one row of the table of forges: everything that is known of a kind
// outside of its adapter.
type Kind struct {
	Kind  ledger.ForgeKind
	Title string // name for people

	Hosts  []string // public servers
	Labels []string // a part of a host's name that begins so suggests a server of this kind

	// Credential is the name of the token's systemd credential, and File its usual
	// name beside the configuration. Both are "" for a kind without a token.
	Credential, File string
	// Remedy says how to get a token, for the command doctor.
	Remedy string
	// API returns the address of the interface of a server.
	API func(Address) string
}

// Kinds are all kinds of forges.
var Kinds = []Kind{
	{
		Kind: ledger.ForgeGitHub, Title: "GitHub",
		Hosts: []string{"github.com"}, Labels: []string{"github", "ghe"},
		Credential: "github-token", File: "github.token",
		Remedy: "Make a fine-grained token for this repository with write access to contents, pull requests and issues and read access to checks, statuses and actions. Put it in the file, mode 0600",
		API:    gitHubAPI,
	},
	{
		Kind: ledger.ForgeGitea, Title: "Gitea",
		Hosts: []string{"gitea.com", "codeberg.org"}, Labels: []string{"gitea", "forgejo"},
		Credential: "gitea-token", File: "gitea.token",
		Remedy: "Make a token with write access to repository and issue and read access to user. Put it in the file, mode 0600",
		API:    func(a Address) string { return a.scheme() + a.Host + a.Prefix },
	},
	{
		Kind: ledger.ForgePlain, Title: "git",
		API: func(Address) string { return "" },
	},
}

// gitHubAPI returns the address of a GitHub's interface. github.com and the
// servers of ghe.com have hosts of their own for it, others have a folder.
func gitHubAPI(a Address) string {
	switch {
	case a.Host == "github.com":
		return "https://api.github.com/"
	case isBelow(a.Host, "ghe.com"):
		return "https://api." + a.Host + "/"
	}
	return a.scheme() + a.Host + a.Prefix + "/api/v3/"
}

// KindOf returns the row of a kind, of ForgePlain for one that is not known.
func KindOf(kind ledger.ForgeKind) Kind {
	for _, k := range Kinds {
		if k.Kind == kind {
			return k
		}
	}
	return Kinds[len(Kinds)-1]
}
