package guard

import (
	"slices"
	"strings"
)

// deploying lists commands that change what other people use: they publish,
// deploy, or change a cluster. Each line has the form of Rules.Denied. They are
// denied to every session, and a task or a project may allow one (Rules.Allowed).
//
// Commands that also serve everyday work are missing: aws s3 cp, docker build,
// kubectl get.
var deploying = []string{
	"kubectl apply", "kubectl create", "kubectl delete", "kubectl replace", "kubectl patch", "kubectl edit", "kubectl set",
	"kubectl scale", "kubectl rollout", "kubectl drain", "kubectl run", "oc apply", "oc delete", "oc rollout", "oc start-build",
	"helm install", "helm upgrade", "helm uninstall", "helm delete", "helm rollback", "helm push", "helmfile apply", "helmfile sync", "helmfile destroy",
	"kustomize edit set", "argocd app sync", "argocd app delete", "flux reconcile", "skaffold run", "skaffold deploy",
	"terraform apply", "terraform destroy", "terraform import", "terraform state rm", "terraform state mv", "terraform taint",
	"tofu apply", "tofu destroy", "tofu import", "terragrunt apply", "terragrunt destroy", "terragrunt run-all",
	"pulumi up", "pulumi update", "pulumi destroy", "ansible-playbook",
	"cdk deploy", "cdk destroy", "sam deploy", "sam delete", "serverless deploy", "serverless remove", "sls deploy", "sls remove", "sst deploy", "sst remove",
	"vercel --prod", "vercel deploy", "vercel promote", "vercel rollback", "netlify deploy --prod", "firebase deploy", "wrangler deploy", "wrangler publish",
	"fly deploy", "flyctl deploy", "railway up", "render deploys create", "surge", "gh-pages",
	"heroku container:release", "heroku releases:rollback", "heroku pipelines:promote", "heroku config:set", "heroku pg:reset", "heroku apps:destroy",
	"aws cloudformation deploy", "aws cloudformation create-stack", "aws cloudformation update-stack", "aws cloudformation delete-stack",
	"aws ecs update-service", "aws lambda update-function-code", "aws lambda publish-version", "aws deploy create-deployment",
	"aws elasticbeanstalk update-environment", "aws s3 rb", "aws amplify start-deployment",
	"gcloud app deploy", "gcloud run deploy", "gcloud functions deploy", "gcloud builds submit", "gcloud deploy releases create",
	"az webapp up", "az webapp deploy", "az functionapp deployment", "az deployment", "az containerapp up", "az containerapp update",
	"docker push", "docker image push", "docker compose push", "docker manifest push", "docker stack deploy", "podman push", "buildah push", "skopeo copy", "crane push",
	"npm publish", "npm unpublish", "npm deprecate", "npm dist-tag add", "pnpm publish", "yarn publish", "yarn npm publish", "bun publish", "lerna publish",
	"cargo publish", "cargo yank", "twine upload", "poetry publish", "uv publish", "flit publish", "hatch publish", "gem push", "gem yank",
	"mvn deploy", "gradle publish", "dotnet nuget push", "nuget push", "dart pub publish", "flutter pub publish", "mix hex.publish", "goreleaser release", "semantic-release",
	"gh release create", "gh release upload", "gh release edit", "gh release delete", "gh pr merge", "gh workflow run", "gh repo delete",
	"glab release create", "glab mr merge", "tea releases create", "tea pulls merge", "eas submit", "fastlane deliver", "fastlane supply", "fastlane release",
}

// launchers start a program of a package by its name, which is not on PATH.
var launchers = []string{"npx", "bunx", "pnpx"}

// launched are the programs of deploying that come as a package for npm.
var launched = []string{"vercel", "netlify", "firebase", "wrangler", "serverless", "sls", "sst", "cdk", "lerna", "semantic-release", "gh-pages", "surge", "eas"}

// Deploying returns the rules against deploying and publishing.
func Deploying() []string {
	out := slices.Clone(deploying)
	for _, d := range deploying {
		program, _, _ := strings.Cut(d, " ")
		if !slices.Contains(launched, program) {
			continue
		}
		for _, l := range launchers {
			out = append(out, l+" "+d)
		}
	}
	return out
}

// deploys returns the rule by which a call deploys or publishes; it is false if
// there is none, or if the call is allowed. A call that only shows what it would do is everyday work.
func (r Rules) deploys(program string, args []string) (rule, bool) {
	for _, d := range r.Deploying {
		parsed := parse(d)
		if parsed.kind != call || parsed.program != program || !parsed.matches(args) || isRehearsal(args) {
			continue
		}
		if !r.allows(program, args) {
			return parsed, true
		}
	}
	return rule{}, false
}

// allows reports whether Allowed names the call: its program, and the words and
// flags that it names.
func (r Rules) allows(program string, args []string) bool {
	return slices.ContainsFunc(r.Allowed, func(text string) bool {
		a := parse(text)
		return a.kind == call && a.program == program && a.matches(args)
	})
}

// isRehearsal reports whether a call changes nothing.
func isRehearsal(args []string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		name, value, _ := strings.Cut(a, "=")
		if name == "--help" || name == "--dry-run" && value != "none" && value != "false" {
			return true
		}
	}
	return false
}
