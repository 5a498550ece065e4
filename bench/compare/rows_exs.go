package main

import "gomx/bench/internal/turns"

// mib is the length of a download.
const mib = "1048576"

// rowsOfSockets are what programs over a net.Conn do. n makes a count smaller.
func rowsOfSockets(n func(count int) string) []turns.Row {
	all := []turns.Row{
		{Name: "echo 64 B, one goroutine", Program: "exs_echo", Args: []string{"-count", n(10_000), "-plain"}},
		{Name: "echo 64 B, a reader beside the writer", Bar: turns.AtMost(1, turns.SystemTCP), Program: "exs_echo", Args: []string{"-count", n(10_000)}},
		{Name: "asleep, 8 B a hop, net.Conn", Program: "exs_echo", Args: []string{"-count", n(300), "-pause", "5ms", "-length", "8", "-plain"}},
		{Name: "small GET, one connection", Bar: turns.AtMost(1, turns.SystemTCP), Program: "exs_http", Args: []string{"-count", n(5000)}},
		{Name: "small GET, 16 connections", Bar: turns.AtMost(1/1.3, turns.SystemTCP), Program: "exs_http", Args: []string{"-count", n(5000), "-workers", "16"}},
		{Name: "GET of a file of 1 MiB, one connection", Bar: turns.AtMost(1/1.3, turns.SystemTCP), Program: "exs_http", Args: []string{"-count", n(500), "-length", mib, "-file"}},
		{Name: "GET of a file of 1 MiB, 16 connections", Bar: turns.AtMost(1/1.3, turns.SystemTCP), Program: "exs_http", Args: []string{"-count", n(500), "-length", mib, "-file", "-workers", "16"}, More: true},
		{Name: "small GET, HTTP/2 over TLS", Bar: turns.AtMost(1, turns.SystemTCP), Program: "exs_http", Args: []string{"-count", n(5000), "-h2"}},
		{Name: "small GET, HTTP/2 over TLS, 16 at a time", Bar: turns.AtMost(1, turns.SystemTCP), Program: "exs_http", Args: []string{"-count", n(5000), "-h2", "-workers", "16"}, More: true},
		{Name: "GET of a file of 1 MiB, HTTP/2 over TLS", Program: "exs_http", Args: []string{"-count", n(200), "-length", mib, "-file", "-h2"}, More: true},
		{Name: "io.Copy of 256 MiB, 1 MiB of it", Program: "exs_copy", Args: []string{"-mib", n(256)}},
		{Name: "io.Copy of a file of 256 MiB, 1 MiB of it", Program: "exs_copy", Args: []string{"-mib", n(256), "-file"}, More: true},
		{Name: "dial, echo 64 B, close", Bar: turns.AtMost(1.5, turns.SystemTCP), Program: "exs_short", Args: []string{"-count", n(1000)}},
		{Name: "dial, echo 64 B, close, 16 at a time", Program: "exs_short", Args: []string{"-count", n(100), "-workers", "16"}, More: true},
		{Name: "grpc call of 64 B", Bar: turns.AtMost(1, turns.SystemTCP), Program: "exs_grpc", Args: []string{"-count", n(5000)}},
		{Name: "grpc call of 64 B, 16 at a time", Program: "exs_grpc", Args: []string{"-count", n(5000), "-workers", "16"}, More: true},
		{Name: "grpc stream, echo 64 B", Program: "exs_grpc", Args: []string{"-count", n(5000), "-stream", "echo"}},
		{Name: "grpc stream of 64 KiB messages, one of them", Program: "exs_grpc", Args: []string{"-count", n(5000), "-stream", "answers", "-length", "65536"}, More: true},
	}
	for i := range all {
		all[i].Shape, all[i].Sockets = turns.Pair, true
	}
	return all
}
