//go:build !unix

package live

import "os"

// OnUser1 says that this system has no such signal.
func OnUser1() (c chan os.Signal, stop func(), ok bool) { return nil, func() {}, false }
