package main

// mib is the length of a download.
const mib = "1048576"

// rowsOfSockets are what programs over a net.Conn do. n makes a count smaller.
func rowsOfSockets(n func(count int) string) []row {
	all := []row{
		{name: "echo 64 B, one goroutine", program: "exs_echo", args: []string{"-count", n(10_000), "-plain"}},
		{name: "echo 64 B, a reader beside the writer", bar: bar{1, systemTCP}, program: "exs_echo", args: []string{"-count", n(10_000)}},
		{name: "asleep, 8 B a hop, net.Conn", program: "exs_echo", args: []string{"-count", n(300), "-pause", "5ms", "-length", "8", "-plain"}},
		{name: "small GET, one connection", bar: bar{1, systemTCP}, program: "exs_http", args: []string{"-count", n(5000)}},
		{name: "small GET, 16 connections", bar: bar{1 / 1.3, systemTCP}, program: "exs_http", args: []string{"-count", n(5000), "-workers", "16"}},
		{name: "GET of a file of 1 MiB, one connection", bar: bar{1 / 1.3, systemTCP}, program: "exs_http", args: []string{"-count", n(500), "-length", mib, "-file"}},
		{name: "GET of a file of 1 MiB, 16 connections", bar: bar{1 / 1.3, systemTCP}, program: "exs_http", args: []string{"-count", n(500), "-length", mib, "-file", "-workers", "16"}, more: true},
		{name: "small GET, HTTP/2 over TLS", bar: bar{1, systemTCP}, program: "exs_http", args: []string{"-count", n(5000), "-h2"}},
		{name: "small GET, HTTP/2 over TLS, 16 at a time", bar: bar{1, systemTCP}, program: "exs_http", args: []string{"-count", n(5000), "-h2", "-workers", "16"}, more: true},
		{name: "GET of a file of 1 MiB, HTTP/2 over TLS", program: "exs_http", args: []string{"-count", n(200), "-length", mib, "-file", "-h2"}, more: true},
		{name: "io.Copy of 256 MiB, 1 MiB of it", program: "exs_copy", args: []string{"-mib", n(256)}},
		{name: "io.Copy of a file of 256 MiB, 1 MiB of it", program: "exs_copy", args: []string{"-mib", n(256), "-file"}, more: true},
		{name: "dial, echo 64 B, close", bar: bar{1.5, systemTCP}, program: "exs_short", args: []string{"-count", n(1000)}},
		{name: "dial, echo 64 B, close, 16 at a time", program: "exs_short", args: []string{"-count", n(100), "-workers", "16"}, more: true},
		{name: "grpc call of 64 B", bar: bar{1, systemTCP}, program: "exs_grpc", args: []string{"-count", n(5000)}},
		{name: "grpc call of 64 B, 16 at a time", program: "exs_grpc", args: []string{"-count", n(5000), "-workers", "16"}, more: true},
		{name: "grpc stream, echo 64 B", program: "exs_grpc", args: []string{"-count", n(5000), "-stream", "echo"}},
		{name: "grpc stream of 64 KiB messages, one of them", program: "exs_grpc", args: []string{"-count", n(5000), "-stream", "answers", "-length", "65536"}, more: true},
	}
	for i := range all {
		all[i].shape, all[i].sockets = pair, true
	}
	return all
}
