package propose

import (
	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	gradleFiles   = []string{"build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"}
	androidPlugin = regexp.MustCompile(`com\.android\.(?:application|library)`)
)

// lookJava proposes the whole check of Gradle or Maven, by the wrapper that the
// repository has. It needs no setup: both download what a build needs, into caches
// that sessions share.
func lookJava(f folder) (part, bool) {
	var p part
	gradle := f.first(gradleFiles...)
	switch maven := f.has("pom.xml"); {
	case gradle != "":
		// No daemon outlives the command, so that there is nothing to wait for.
		p.verify = append(p.verify, f.wrapper("gradlew", "gradle", " check --no-daemon", gradle))
		p.makes = []string{"build", ".gradle"}
		if maven {
			p.notes = append(p.notes, f.name("pom.xml")+" is left out: "+gradle+" was taken")
		}
		if androidPlugin.MatchString(f.read("build.gradle") + f.read("build.gradle.kts") + f.read("app/build.gradle") + f.read("app/build.gradle.kts")) {
			p.notes = append(p.notes, `an Android build looks for its SDK by a variable, which sessions get with pass_env = ["ANDROID_HOME"]`)
		}
	case maven:
		// -ntp: the progress of downloads would fill the output.
		p.verify = append(p.verify, f.wrapper("mvnw", "mvn", " verify -B -ntp", "pom.xml"))
		p.makes = []string{"target"}
	default:
		return part{}, false
	}
	return p, true
}

// wrapper returns a command of a build tool for Java, through the script in the
// repository that fetches the tool, if there is one.
func (f folder) wrapper(script, program, args, why string) Command {
	if !f.has(script) {
		return f.command(program+args, why, false, "java")
	}
	if !f.runs(script) {
		return f.command("sh ./"+script+args, script, true, "java")
	}
	return f.command("./"+script+args, script, true, "java")
}
