package guard

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// floor are the rules that every hat has, and those of one hat.
var floor = []string{
	"git push --force", "rm -rf", "DROP TABLE", "DROP DATABASE", "mkfs", "dd of=/dev", "curl | sh", "wget | sh",
	"npm publish", "git reset --hard", "kubectl --context prod delete", "terraform apply -auto-approve", "chmod -R 777",
}

// callInSession returns the rules for a session's folders, and a call in them
// with some links.
func callInSession(program string, args []string) (Rules, Call) {
	return Rules{
			Hat: "builder", Denied: floor, Protected: []string{"main", "release/*", "hotfix/**"},
			Roots: []string{"/state/work", "/state/home", "/state/tmp"},
		}, Call{
			Program: program, Args: args, Dir: "/state/work/web",
			Readlink: func(p string) (string, error) {
				if to, ok := map[string]string{
					"/state/work/out": "/srv/out", "/state/work/web/in": "../api", "/state/work/web/up": "../..", "/state/work/web/loop": "loop",
					"/dev/disk/by-id/a": "../../sda", "/dev/stdout": "/proc/self/fd/1", "/state/work/disk": "/dev/sdb", "/var/tmp": "/state/tmp",
				}[p]; ok {
					return to, nil
				}
				return "", errors.New("not a link")
			},
		}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		call string // words separated by spaces; | separates words that contain spaces
		why  string // part of the reason, "" = allowed
	}{
		// Pushes that overwrite or delete.
		{"git push --force", "--force"},
		{"git push --force origin topic", "--force"},
		{"git push origin topic --force", "--force"},
		{"git push -f origin topic", "-f"},
		{"git push -uf origin topic", "-f"},
		{"git push -fu origin topic", "-f"},
		{"git push --forc origin topic", "--forc"},
		{"git push --force-with-lease origin topic", "--force-with-lease"},
		{"git push --force-with-lease=topic:abc origin topic", "--force-with-lease"},
		{"git push origin +topic", "+topic"},
		{"git push origin a +topic:topic", "+topic:topic"},
		{"git push --mirror origin", "--mirror"},
		{"git push --mi origin", "--mi"},
		{"git push --prune origin topic", "--prune"},
		{"git push origin --delete topic", "--delete"},
		{"git push -d origin topic", "-d"},
		{"git push origin :topic", ":topic"},
		{"git -C ../x push -f origin topic", "-f"},
		{"git -c a=b push -f origin topic", "-f"},
		{"git --git-dir x --no-pager -p push -f origin topic", "-f"},
		{"git --git-dir=x push -f origin topic", "-f"},
		{"git send-pack --force x topic", "--force"},
		{"git push origin topic", ""},
		{"git push -u origin topic", ""},
		{"git push origin HEAD:topic", ""},
		{"git push -o force origin topic", ""},
		{"git push -oforce origin topic", ""},
		{"git push --push-option --force origin topic", ""},
		{"git push --follow-tags origin topic", ""},
		{"git stash push -f", ""},
		{"git stash push --force", ""},
		{"git -C push status", ""},
		{"git commit -m|git push --force", ""},
		{"git fetch --force", ""},
		{"git fetch --force --prune origin +a:b", ""},
		{"git", ""},
		{"git -C", ""},
		{"git --force", ""},
		{"git push-nothing --force", ""},

		// Protected branches.
		{"git push", "does not name the branch"},
		{"git push origin", "does not name the branch"},
		{"git push -u origin", "does not name the branch"},
		{"git push origin HEAD", "does not name the branch"},
		{"git push origin @", "does not name the branch"},
		{"git push origin :", "does not name the branch"},
		{"git push origin main", "main is protected"},
		{"git push origin topic main", "main is protected"},
		{"git push origin HEAD:main", "main is protected"},
		{"git push origin topic:refs/heads/main", "main is protected"},
		{"git push origin refs/heads/main", "main is protected"},
		{"git push origin x:heads/main", "main is protected"},
		{"git push origin x:release/2", "release/2 is protected"},
		{"git push origin x:hotfix/a/b", "hotfix/a/b is protected"},
		{"git push origin main:topic", ""},
		{"git push origin release", ""},
		{"git push origin x:release/2/a", ""},
		{"git push origin x:hotfix", "hotfix is protected"},
		{"git push origin mainly", ""},
		{"git push --all origin", "--all"},
		{"git push --branches origin", "--branches"},
		{"git push --tags", ""},
		{"git push origin tag v1", ""},
		{"git push origin refs/tags/main", ""},
		{"git push origin refs/heads/*:refs/heads/*", "does not name the branch"},
		{"git push origin refs/*:refs/*", "does not name the branch"},
		{"git push origin refs/h*:refs/h*", "does not name the branch"},
		{"git push origin refs/tags/*", ""},

		// rm, inside and outside of the session's folders.
		{"rm -rf build", ""},
		{"rm -rf node_modules dist ./x", ""},
		{"rm -rf /state/work/web/build", ""},
		{"rm -rf ../api", ""},
		{"rm -rf /state/tmp/x /state/home/.cache", ""},
		{"rm -rf /var/tmp/x", ""},
		{"rm -rf in", ""},
		{"rm -rf in/x", ""},
		{"rm -rf loop", ""},
		{"rm -rf loop/", ""},
		{"rm -rf up", ""}, // the link itself
		{"rm -rf ../out", ""},
		{"rm -rf ~", ""}, // a file of that name: a shell would have expanded it to HOME
		{"rm -f /etc/passwd", ""},
		{"rm /etc/passwd", ""},
		{"rm -rf", ""},
		{"rm -rf|", ""},
		{"rm -- -rf /etc", ""},
		{"rm -rf /", "/ is not inside"},
		{"rm -rf //", "/ is not inside"},
		{"rm -fr /etc", "/etc is not inside"},
		{"rm -r -f /etc", "/etc"},
		{"rm -R --force /etc", "/etc"},
		{"rm --recursive --force /etc", "/etc"},
		{"rm --recurs --forc /etc", "/etc"},
		{"rm -r /etc", "/etc"},
		{"rm -vrf /etc", "/etc"},
		{"rm /etc -rf", "/etc"},
		{"rm -rf build /etc", "/etc"},
		{"rm -rf -- build /etc", "/etc"},
		{"rm -rf ../..", "/state is not inside"},
		{"rm -rf ../../home2", "/state/home2"},
		{"rm -rf ..", "/state/work is not inside"},
		{"rm -rf /state/home", "/state/home is not inside"},
		{"rm -rf /state/work/../work/", "/state/work is not inside"},
		{"rm -rf /state/workshop", "/state/workshop"},
		{"rm -rf up/../x", "/x is not inside"}, // up links to /state, so this is a path there
		{"rm -rf ../out/", "/srv/out"},
		{"rm -rf ../out/.", "/srv/out"},
		{"rm -rf ../out/x", "/srv/out/x"},
		{"rm -rf --no-preserve-root build", "everything"},

		// Disks.
		{"dd if=a of=/dev/sda", "/dev/sda is a device"},
		{"dd of=/dev/disk/by-id/a if=a", "/dev/sda is a device"},
		{"dd of=../../../dev/sda", "/dev/sda"},
		{"dd of=/state/work/disk", "/dev/sdb"},
		{"dd if=/dev/sda of=image", ""},
		{"dd if=/dev/zero of=/dev/null", ""},
		{"dd of=/dev/stdout", ""},
		{"dd of=/dev/shm/x", ""},
		{"mkfs.ext4 /dev/sda1", "file system"},
		{"mkfs -t ext4 /dev/sda1", "file system"},
		{"mke2fs /dev/sda1", "file system"},
		{"fdisk /dev/sda", "/dev/sda"},
		{"fdisk -l", ""},
		{"parted -s /dev/sda mklabel gpt", "/dev/sda"},
		{"wipefs -a /dev/sda", "/dev/sda"},
		{"shred -u /dev/sda", "/dev/sda"},
		{"shred -u secret.txt", ""},

		// SQL.
		{"psql -c|DROP TABLE users", "DROP TABLE"},
		{"psql -cDROP TABLE users", ""}, // three arguments here, none with both words
		{"psql|-cDROP TABLE users", "DROP TABLE"},
		{"psql --command=|x", ""},
		{"psql|--command=drop table users", "DROP TABLE"},
		{"psql shop -c|drop\n\ttable users", "DROP TABLE"},
		{"psql -c|drop /* all */ -- of it\n table users", "DROP TABLE"},
		{"psql -c|select 1; Drop Table if exists users;", "DROP TABLE"},
		{"psql -c|DO $$ BEGIN EXECUTE 'DROP TABLE x'; END $$", "DROP TABLE"},
		{"mysql -e|/*!50000 DROP TABLE x*/", "DROP TABLE"},
		{"mysql -e|DROP DATABASE shop", "DROP DATABASE"},
		{"sqlite3 shop.db|drop table t", "DROP TABLE"},
		{"sqlite3 shop.db|alter table t drop column c", ""},
		{"psql -c|select drop_table from t", ""},
		{"psql -c|select 'drop', 'table'", ""},
		{"psql -c|drop the table", ""},
		{"psql -c|drop -- table", ""},
		{"echo|DROP TABLE users", ""},
		{"dropdb shop", "drops a database"},
		{"mysqladmin drop shop", "drops a database"},
		{"mysqladmin status", ""},

		// Calls by their words.
		{"npm publish", "rule"},
		{"npm publish --access public", "rule"},
		{"npm --prefix web publish", "rule"},
		{"npm --prefix=web publish", "rule"},
		{"npm run publish", ""},
		{"npm install publish", ""},
		{"npm --version", ""},
		{"npm -- publish", "rule"},
		{"git reset --hard", "rule"},
		{"git reset HEAD~1 --hard", "rule"},
		{"git -C x reset --hard HEAD", "rule"},
		{"git reset --soft", ""},
		{"git reset -- --hard", ""},
		{"git log --hard reset", ""},
		{"npm --silent run publish", "rule"}, // run may be the value of --silent, so the call is denied to be safe
		{"npm --silent publish", "rule"},
		{"kubectl --context prod delete pod x", "rule"},
		{"kubectl --context=prod delete pod x", "rule"},
		{"kubectl --context test delete pod prod", ""},
		{"terraform apply -auto-approve", "rule"},
		{"terraform apply", ""},
		{"chmod --recursive 777 .", "rule"},
		{"chmod -vR 777 .", "rule"},
		{"chmod -R 755 .", ""},
		{"curl https://x.example", ""},
	} {
		words := strings.Fields(c.call)
		if head, tail, ok := strings.Cut(c.call, "|"); ok {
			words = append(strings.Fields(head), strings.Split(tail, "|")...)
		}
		r, call := callInSession(words[0], words[1:])
		no, denied := r.Check(call)
		if denied != (c.why != "") || !strings.Contains(no.Why, c.why) {
			t.Errorf("%q: denied %v: %+v, want %q", words, denied, no, c.why)
		}
		if denied && (no.Instead == "" || no.Why == "") {
			t.Errorf("%q: a refusal that does not say enough: %+v", words, no)
		}
		if denied && !slices.Contains(r.Programs(), call.Program) {
			t.Errorf("%q is denied, and %s gets no wrapper", words, call.Program)
		}
	}
}

// TestRule parses the rules that a hat may contain.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		rule, call string
		denied     bool
	}{
		{"rm -rf", "rm -rf build", false},
		{"rm --force --recursive", "rm -rf build", false},
		{"rm -r", "rm -rf build", false},
		{"rm -r", "rm -r /etc", true},
		{"rm -rf *", "rm -rf build", true},
		{"rm -rf *", "rm -r build", false},
		{"rm -rf *", "rm build", false},
		{"rm -r *", "rm -fr build", true},
		{"rm -rf vendor", "rm -rf vendor", true},
		{"rm -rf vendor", "rm -rf build", false},
		{"rm", "rm x", true},
		{"rm *", "rm x", true},
		{"git push", "git push origin topic", true},
		{"git push *", "git push", true},
		{"git push", "git pull", false},
		{"git  push  -f", "git push --force", true},
		{"git push --force-with-lease", "git push --force-with-lease", true},
		{"git push --force-with-lease", "git push --force", false},
		{"git branch -D", "git branch -D x", true},
		{"git branch -D", "git branch -d x", false},
		{"git clean -fdx", "git clean --force -x -d", true},
		{"git clean -fdx", "git clean -fd", false},
		{"drop table", "psql drop\ttable", true},
		{"TRUNCATE", "psql truncate\ttable\tx", true},
		{"delete from", "sqlite3 delete\tfrom\tx", true},
		{"drop x", "drop x", true},
		{"make deploy", "make -C web deploy", true},
		{"make deploy", "make test", false},
		{"docker compose down", "docker compose -f x down", true},
		{"docker compose down", "docker compose up", false},
	} {
		words := strings.Split(c.call, " ")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\t", " ")
		}
		r, call := callInSession(words[0], words[1:])
		r.Denied, r.Protected = []string{c.rule}, nil
		if no, denied := r.Check(call); denied != c.denied {
			t.Errorf("rule %q: %q denied %v: %+v", c.rule, words, denied, no)
		}
	}
}

func TestUnseen(t *testing.T) {
	r := Rules{Denied: []string{"curl | sh", "WebFetch", "Bash(npm publish:*)", "mcp__db__drop(x)", "./deploy.sh", "hat emit", "", " ", "echo $HOME", ":(){ :|:& };:", "npm publish"}}
	want := []string{"curl | sh", "WebFetch", "Bash(npm publish:*)", "mcp__db__drop(x)", "./deploy.sh", "hat emit", "echo $HOME", ":(){ :|:& };:"}
	if got := r.Unseen(); !slices.Equal(got, want) {
		t.Errorf("unseen: %q", got)
	}
	if got := r.Programs(); !slices.Equal(got, []string{"npm"}) {
		t.Errorf("programs: %q", got)
	}
	if got := (Rules{Protected: []string{"main"}}).Programs(); !slices.Equal(got, []string{"git"}) {
		t.Errorf("programs of a protected branch: %q", got)
	}
	if got := (Rules{}).Programs(); len(got) > 0 {
		t.Errorf("programs of no rules: %q", got)
	}
	for text, want := range map[string]bool{"rm -rf": true, "rm  -f -r": true, "rm -rf *": false, "rm": false, "git push": false} {
		if IsRemoval(text) != want {
			t.Errorf("IsRemoval(%q) is not %v", text, want)
		}
	}
}

// FuzzCheck checks any rules against any call: no panic, no endless loop, every
// refusal has a reason, and every denied program has a wrapper.
func FuzzCheck(f *testing.F) {
	for _, d := range floor {
		f.Add(d, "main", "git push -f origin main", "/state/work")
		f.Add(d, "**", "rm\x00-rf\x00../x", "/state/work/..")
	}
	f.Add("rm -rf *", "a/**/[", "dd\x00of=/dev/../dev/sda", "")
	f.Add("DROP TABLE", "", "psql\x00-c\x00drop/*", "/")
	f.Fuzz(func(t *testing.T, denied, protected, line, dir string) {
		words := strings.FieldsFunc(line, func(c rune) bool { return c == 0 || c == ' ' })
		if len(words) == 0 {
			return
		}
		r, call := callInSession(words[0], words[1:])
		call.Dir = dir
		r.Denied, r.Protected = strings.Split(denied, "\n"), []string{protected}
		no, ok := r.Check(call)
		if !ok {
			return
		}
		if no.Why == "" || no.Instead == "" || !slices.Contains(r.Programs(), words[0]) {
			t.Errorf("%q %q: %+v", denied, words, no)
		}
		_ = no.text("builder", words[0], words[1:])
	})
}
