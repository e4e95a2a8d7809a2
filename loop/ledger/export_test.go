package ledger

// EffectKind is a row of the table of effect kinds.
type EffectKind struct {
	Class Class
	Retry Retry
	Body  EffectBody
}

// EffectKinds returns the table of effect kinds, by kind.
func EffectKinds() map[string]EffectKind {
	kinds := map[string]EffectKind{}
	for kind, k := range effectKinds {
		kinds[kind] = EffectKind{k.class, k.retry, k.body}
	}
	return kinds
}
