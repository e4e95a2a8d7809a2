package loop

import (
	"encoding/json"
	"iter"
	"slices"
)

// List is an immutable list. With and Append return a new list that shares all
// blocks of elements with the old list, except the one that changed. That keeps a state cheap to copy:
// changing one of thousands of tasks copies two small arrays. The zero value is the
// empty list. JSON encodes a List as an array.
type List[T any] struct {
	blocks []*[blockLen]T
	n      int
}

// blockLen is the number of elements in a block. A change copies one block and the
// slice of blocks; with 64, both have the same size at 4,096 elements.
const blockLen = 64

// ListOf returns a list of the given elements.
func ListOf[T any](elems ...T) List[T] {
	l := List[T]{n: len(elems)}
	for part := range slices.Chunk(elems, blockLen) {
		block := new([blockLen]T)
		copy(block[:], part)
		l.blocks = append(l.blocks, block)
	}
	return l
}

// Len returns the number of elements.
func (l List[T]) Len() int { return l.n }

// At returns the element at position n, which must be less than Len.
func (l List[T]) At(n int) T { return l.blocks[n/blockLen][n%blockLen] }

// All iterates over positions and elements, in order.
func (l List[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for n := range l.n {
			if !yield(n, l.At(n)) {
				return
			}
		}
	}
}

// Slice returns the elements, in order, in a slice that the caller owns.
func (l List[T]) Slice() []T {
	out := make([]T, 0, l.n)
	for _, e := range l.All() {
		out = append(out, e)
	}
	return out
}

// With returns a list that has elem at position n, which must be less than Len, and
// otherwise equals l.
func (l List[T]) With(n int, elem T) List[T] {
	block := *l.blocks[n/blockLen]
	block[n%blockLen] = elem
	l.blocks = slices.Clone(l.blocks)
	l.blocks[n/blockLen] = &block
	return l
}

// Append returns a list of the elements of l followed by elem.
func (l List[T]) Append(elem T) List[T] {
	if l.n%blockLen == 0 {
		l.blocks = append(slices.Clip(l.blocks), new([blockLen]T))
	}
	l.n++
	return l.With(l.n-1, elem)
}

// IsZero reports whether the list is empty, for encoding/json.
func (l List[T]) IsZero() bool { return l.n == 0 }

// MarshalJSON encodes the list as an array.
func (l List[T]) MarshalJSON() ([]byte, error) { return json.Marshal(l.Slice()) }

// UnmarshalJSON decodes an array.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	var elems []T
	if err := json.Unmarshal(data, &elems); err != nil {
		return err
	}
	*l = ListOf(elems...)
	return nil
}
