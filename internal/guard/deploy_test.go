package guard

import (
	"strings"
	"testing"
)

func TestDeploying(t *testing.T) {
	r := Rules{Deploying: Deploying(), Allowed: []string{"npm publish --access public", "helm", "gh release create v1.2"}}
	for line, denied := range map[string]bool{
		"npm publish":                           true,
		"npm --silent publish":                  true,
		"npm publish --tag next":                true,
		"npm publish --access public":           false, // allowed as it is named
		"npm publish --dry-run":                 false,
		"npm run publish":                       false,
		"npm install":                           false,
		"yarn npm publish":                      true,
		"kubectl apply -f x.yaml":               true,
		"kubectl -n prod apply -f x.yaml":       true,
		"kubectl apply -f x --dry-run=client":   false,
		"kubectl apply -f x --dry-run=none":     true,
		"kubectl get pods":                      false,
		"terraform plan":                        false,
		"terraform -chdir=infra apply":          true,
		"terraform destroy -auto-approve":       true,
		"vercel":                                false,
		"vercel --prod":                         true,
		"npx vercel --prod":                     true,
		"npx --yes vercel deploy":               true,
		"npx vitest":                            false,
		"netlify deploy":                        false,
		"netlify deploy --dir=out --prod":       true,
		"gcloud run deploy shop":                true,
		"gcloud run services list":              false,
		"aws s3 cp a s3://b":                    false,
		"aws --profile p cloudformation deploy": true,
		"docker push shop:1":                    true,
		"docker build .":                        false,
		"helm upgrade shop .":                   false, // the whole program is allowed
		"gh release create v1.2":                false,
		"gh release create v1.3":                true,
		"gh pr create":                          false,
		"gh pr merge 4":                         true,
		"ansible-playbook site.yml":             true,
		"ansible-playbook --help":               false,
		"cargo publish":                         true,
		"cargo test":                            false,
	} {
		words := strings.Fields(line)
		no, got := r.Check(Call{Program: words[0], Args: words[1:], Dir: "/"})
		if got != denied {
			t.Errorf("%s: denied %v, want %v", line, got, denied)
		}
		if got && (no.Why == "" || !strings.Contains(no.Instead, "- Allow: `"+no.Rule+"`")) {
			t.Errorf("%s: %+v", line, no)
		}
	}
}

// TestDeployingRules: every rule is a call that its own text meets, and Allowed
// lifts no other rule.
func TestDeployingRules(t *testing.T) {
	for _, text := range Deploying() {
		words := strings.Fields(text)
		r := Rules{Deploying: Deploying()}
		if _, denied := r.Check(Call{Program: words[0], Args: words[1:], Dir: "/"}); !denied {
			t.Errorf("%s is not denied", text)
		}
		r.Allowed = []string{text}
		if _, denied := r.Check(Call{Program: words[0], Args: words[1:], Dir: "/"}); denied {
			t.Errorf("%s is denied, though it is allowed", text)
		}
	}
	r := Rules{Denied: []string{"git push --force", "npm publish"}, Deploying: Deploying(), Allowed: []string{"git", "npm publish"}}
	for _, line := range []string{"git push --force", "npm publish"} {
		words := strings.Fields(line)
		if _, denied := r.Check(Call{Program: words[0], Args: words[1:], Dir: "/"}); !denied {
			t.Errorf("%s: what a hat is denied cannot be allowed", line)
		}
	}
}
