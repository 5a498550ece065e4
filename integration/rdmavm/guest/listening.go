package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// listening waits for a listener, which must not notice: some servers take the
// first connection for the client's.
func listening(args []string) int {
	port := 0
	if len(args) == 1 {
		port, _ = strconv.Atoi(args[0])
	}
	if port == 0 {
		fmt.Fprintln(os.Stderr, "usage: listening port")
		return 2
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			text, err := os.ReadFile(table)
			if err == nil && hasListener(string(text), port) {
				return 0
			}
		}
	}
	fmt.Fprintln(os.Stderr, "nobody listens at port", port)
	return 1
}

// hasListener looks for a port in a table of the kernel's TCP sockets.
func hasListener(table string, port int) bool {
	const localAddress, state, listen = 1, 3, "0A"
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > state && fields[state] == listen && strings.HasSuffix(fields[localAddress], fmt.Sprintf(":%04X", port)) {
			return true
		}
	}
	return false
}
