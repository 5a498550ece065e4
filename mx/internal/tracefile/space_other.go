//go:build !linux

package tracefile

func hasSpace(string, int) error { return nil }
