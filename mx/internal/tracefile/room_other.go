//go:build !linux

package tracefile

func hasRoom(string, int) error { return nil }
