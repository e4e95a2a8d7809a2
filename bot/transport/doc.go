// Package link is the line to a platform, which every adapter has one of: how
// it stands, how long it is left alone after something went wrong, one call
// with its limit, and tokens that never show themselves. What a platform's
// answers mean is the adapter's.
package transport
