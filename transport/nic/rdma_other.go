//go:build !linux

package nic

func rdmaDevices(string) []string { return nil }
