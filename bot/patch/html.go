package patch

import (
	"fmt"
	"html"
	"strings"
)

// Limits of an HTML file. A phone has to open it.
const (
	maxHTML      = 3 << 19 // bytes of the lines; what comes after is named and left out
	maxHTMLFiles = 3000
	openFiles    = 12  // files that are unfolded at first
	openLines    = 400 // lines of a file that is unfolded at first
)

// css is the whole look. Colours follow the phone's setting. Lines wrap, and
// their numbers stay out of what is copied.
const css = `:root{color-scheme:light dark;--g:#fff;--p:#f1f4f8;--t:#1a2230;--f:#57606f;--l:#d5dbe3;--a:#e3f8e8;--aw:#bdeec8;--d:#ffe9ea;--dw:#ffd0d3;--ap:#116932;--dp:#b3202c;--o:#8a4b00;--ob:#ffe2b0;--k:#a3154a;--s:#0a4f8f;--n:#7d4400;--c:#4f5a68;--m:#5b2aa5;--y:#0c6656}
@media(prefers-color-scheme:dark){:root{--g:#0d1117;--p:#1c2431;--t:#e6edf3;--f:#9aa7b7;--l:#2c3747;--a:#0f2a1c;--aw:#154a2a;--d:#34161b;--dw:#722029;--ap:#4ade80;--dp:#ff8f98;--o:#0d1117;--ob:#f59e0b;--k:#ffa0b4;--s:#a5d6ff;--n:#ffc27a;--c:#a3aebd;--m:#d9bdff;--y:#8fe3c8}}
*{box-sizing:border-box}body{margin:0;background:var(--g);color:var(--t);font:16px/1.45 system-ui,sans-serif;-webkit-text-size-adjust:100%}
header,main{max-width:60rem;margin:0 auto;padding:0 .6rem}h1{font-size:1.25rem;margin:.8rem 0 .2rem}h2{font-size:1.05rem;margin:1.4rem 0 .4rem;color:var(--f)}p{margin:.2rem 0 .6rem}
details{border:1px solid var(--l);border-radius:8px;margin:.5rem 0;overflow:clip}summary{position:sticky;top:0;background:var(--p);padding:.5rem .6rem;cursor:pointer;font-weight:600;overflow-wrap:anywhere}
summary small{font-weight:400;color:var(--f);white-space:nowrap}summary small ins,summary small del{text-decoration:none}summary ins{color:var(--ap)}summary del{color:var(--dp)}
.q{padding:.3rem .6rem;color:var(--f);font-size:.9rem;overflow-wrap:anywhere}.h{color:var(--f);background:var(--p);padding:.15rem .6rem;font-size:.85rem;overflow-wrap:anywhere}
.r{display:flex;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}.r i{flex:none;width:2.9rem;padding-right:.35rem;text-align:right;color:var(--f);font-style:normal;font-size:11px;line-height:1.77;-webkit-user-select:none;user-select:none}
.r b{flex:none;width:.9rem;font-weight:700}.r code{flex:1;min-width:0;font:inherit;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4;direction:ltr;unicode-bidi:bidi-override;padding-right:.3rem}
.a{background:var(--a)}.a b{color:var(--ap)}.d{background:var(--d)}.d b{color:var(--dp)}mark{background:none;color:inherit;border-radius:3px}.a mark{background:var(--aw)}.d mark{background:var(--dw)}
u{background:var(--ob);color:var(--o);text-decoration:none;border-radius:3px;font-weight:700}.k{color:var(--k)}.s{color:var(--s)}.n{color:var(--n)}.c{color:var(--c)}.m{color:var(--m)}.y{color:var(--y)}`

var classNames = map[Class]string{Comment: "c", String: "s", Number: "n", Keyword: "k", Call: "m", Key: "y"}

// Head is what stands above the files of an HTML file.
type Head struct {
	Title string   // "shop #5"
	About []string // lines below the title
	Left  string   // what the file lacks from the beginning; "" = nothing
}

// HTML returns versions as one file that loads nothing and runs nothing.
func HTML(head Head, versions [][]File, about []string) []byte {
	p := &page{}
	p.raw(`<!doctype html>` + "\n" + `<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` +
		`<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no"><title>`)
	p.text(head.Title)
	p.raw("</title><style>" + css + "</style></head>\n<body><header><h1>")
	p.text(head.Title)
	p.raw("</h1>")
	for _, line := range head.About {
		p.element("p", line)
	}
	if head.Left != "" {
		p.element("p", head.Left)
	}
	p.raw("</header>\n<main>\n")
	for _, files := range versions {
		for _, f := range files {
			p.rest += f.weight()
		}
	}
	shown := 0
	for v, files := range versions {
		if len(versions) > 1 {
			p.element("h2", about[v])
		}
		for n, f := range files {
			if shown++; shown > maxHTMLFiles {
				p.element("p", fmt.Sprintf("%d more files are left out", len(files)-n))
				break
			}
			// A file gets what the later ones do not need, and half of what is left at
			// least: a long one in front hides no short ones.
			p.rest -= f.weight()
			left := max(maxHTML-p.lines, 0)
			p.limit = p.lines + max(left/2, left-p.rest)
			p.file(f, shown <= openFiles)
		}
	}
	p.raw("</main></body></html>\n")
	return []byte(p.b.String())
}

// weight returns about how many bytes the file's lines take in an HTML file, with
// their colours, rather too many.
func (f File) weight() int {
	bytes := 500
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			bytes += 200 + 4*min(len(l.Text), maxLine)
		}
	}
	return bytes
}

// page collects an HTML file.
type page struct {
	b     strings.Builder
	lines int // bytes of lines so far
	limit int // of lines, at the end of the file in hand
	rest  int // about how many bytes the lines of later files take
}

func (p *page) raw(s string) { p.b.WriteString(s) }

// text writes a text of anybody.
func (p *page) text(s string) { p.b.WriteString(html.EscapeString(Visible(s))) }

func (p *page) element(name, text string) {
	p.raw("<" + name + ">")
	p.text(text)
	p.raw("</" + name + ">\n")
}

func (p *page) file(f File, open bool) {
	lines := 0
	for _, h := range f.Hunks {
		lines += len(h.Lines)
	}
	if open && lines <= openLines && !isGenerated(f.Path) {
		p.raw("<details open><summary>")
	} else {
		p.raw("<details><summary>")
	}
	p.text(f.Path)
	p.raw(" <small>")
	words, counts := f.Counts(), ""
	if at := strings.IndexAny(words, "+−"); at >= 0 {
		words, counts = words[:at], words[at:]
	}
	p.text(words)
	for word := range strings.FieldsSeq(counts) {
		tag := "ins"
		if strings.HasPrefix(word, "−") {
			tag = "del"
		}
		p.raw(" <" + tag + ">" + html.EscapeString(word) + "</" + tag + ">")
	}
	p.raw("</small></summary>\n")
	for _, text := range f.remarks() {
		p.raw(`<div class="q">`)
		p.text(text)
		p.raw("</div>\n")
	}
	lang := languageOf(f.Path)
	missing := 0
	for n, h := range f.Hunks {
		missing += p.hunk(h, lang, n > 0 || h.Section != "")
	}
	if missing > 0 {
		p.raw(`<div class="q">` + left(missing) + ": the file would be too long for a phone</div>\n")
	}
	p.raw("</details>\n")
}

// hunk writes a hunk, with place below a line that says where it stands. It returns
// how many changed lines the limit leaves out.
func (p *page) hunk(h Hunk, lang *language, place bool) (missing int) {
	if place && p.lines < p.limit {
		p.raw(`<div class="h">`)
		p.text(hunkRow(h, 1000).text())
		p.raw("</div>\n")
	}
	tokens := colors(lang, h.Lines)
	for n, l := range h.Lines {
		if p.lines >= p.limit {
			if l.Kind == Added || l.Kind == Removed {
				missing++
			}
			continue
		}
		before := p.b.Len()
		if l.Kind == Note {
			p.raw(`<div class="q">`)
			p.text(noteText(l.Text))
			p.raw("</div>\n")
			continue
		}
		class, sign, number := "", " ", l.New
		switch l.Kind {
		case Added:
			class, sign = " a", "+"
		case Removed:
			class, sign, number = " d", "−", l.Old
		}
		fmt.Fprintf(&p.b, `<div class="r%s"><i>%d</i><b>%s</b><code>`, class, number, sign)
		p.cells(cells(l.Text, 4, tokens[n], l.Changed, l.Kind != Context))
		p.raw("</code></div>\n")
		p.lines += p.b.Len() - before
	}
	return missing
}

// cells writes a line, adjacent cells of a look together.
func (p *page) cells(all []cell) {
	for len(all) > 0 {
		first, n := all[0], 0
		var text strings.Builder
		for n < len(all) && all[n].class == first.class && all[n].changed == first.changed && all[n].odd == first.odd {
			text.WriteString(all[n].text)
			n++
		}
		open, end := "", ""
		if first.changed {
			open, end = "<mark>", "</mark>"
		}
		switch name := classNames[first.class]; {
		case first.odd:
			open, end = open+"<u>", "</u>"+end
		case name != "":
			open, end = open+`<span class="`+name+`">`, "</span>"+end
		}
		p.raw(open + html.EscapeString(text.String()) + end)
		all = all[n:]
	}
}
