package stats

// Held returns how much the fold remembers.
func (f *Fold) Held() (days, names, works, listed, open int) {
	for _, d := range f.days {
		names = max(names, len(d.parts))
	}
	return len(f.days), names, len(f.works), len(f.listed), len(f.open)
}
