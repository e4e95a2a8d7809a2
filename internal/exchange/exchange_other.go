//go:build !linux

package exchange

import "errors"

// Files returns errors.ErrUnsupported: only Linux has the call.
func Files(string, string) error { return errors.ErrUnsupported }
