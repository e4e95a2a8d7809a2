package egress

import "strings"

// packageVars are the settings by which package managers ask a registry by plain
// HTTP, which the proxy makes HTTPS (Policy.ReadOnly). A host that only serves files,
// and takes none, needs no row: it can be among Policy.Hosts.
var packageVars = map[string][]string{
	// npm and pnpm; the addresses of files in lockfiles and in what the registry says
	// are replaced by this one.
	"registry.npmjs.org": {"npm_config_registry=http://registry.npmjs.org/", "npm_config_replace_registry_host=always"},
	// yarn from version 2 on.
	"registry.yarnpkg.com": {"YARN_NPM_REGISTRY_SERVER=http://registry.yarnpkg.com", "YARN_UNSAFE_HTTP_WHITELIST=registry.yarnpkg.com"},
	// The checksums come through the same host.
	"proxy.golang.org": {"GOPROXY=http://proxy.golang.org"},
	"pypi.org":         {"PIP_INDEX_URL=http://pypi.org/simple/", "PIP_TRUSTED_HOST=pypi.org"},
	"rubygems.org":     {"BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/=http://rubygems.org/"},
}

// ReadOnlyVars returns environment variables, NAME=VALUE, by which package managers
// find their way to hosts that are only read.
func ReadOnlyVars(hosts []Host) []string {
	var vars []string
	for _, h := range hosts {
		if !h.Wildcard {
			vars = append(vars, packageVars[strings.ToLower(h.Name)]...)
		}
	}
	return vars
}
