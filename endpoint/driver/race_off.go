//go:build !race

package driver

const racing = false
