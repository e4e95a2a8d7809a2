package regexp

// String returns the expression.
func (r *Regexp) String() string { return r.text }

// The following methods are those of the same name of the standard library.

func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }
func (r *Regexp) Match(b []byte) bool       { return r.compile().Match(b) }

func (r *Regexp) FindString(s string) string           { return r.compile().FindString(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}
func (r *Regexp) FindAllString(s string, n int) []string { return r.compile().FindAllString(s, n) }
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compile().FindAllStringIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compile().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) Find(b []byte) []byte                 { return r.compile().Find(b) }
func (r *Regexp) FindSubmatch(b []byte) [][]byte       { return r.compile().FindSubmatch(b) }
func (r *Regexp) FindSubmatchIndex(b []byte) []int     { return r.compile().FindSubmatchIndex(b) }
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.compile().FindAllIndex(b, n) }

func (r *Regexp) ReplaceAll(b, to []byte) []byte       { return r.compile().ReplaceAll(b, to) }
func (r *Regexp) ReplaceAllString(s, to string) string { return r.compile().ReplaceAllString(s, to) }
func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, f)
}
func (r *Regexp) ReplaceAllFunc(b []byte, f func([]byte) []byte) []byte {
	return r.compile().ReplaceAllFunc(b, f)
}

func (r *Regexp) Split(s string, n int) []string { return r.compile().Split(s, n) }
func (r *Regexp) NumSubexp() int                 { return r.compile().NumSubexp() }
