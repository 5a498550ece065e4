// Package nic knows the boards of this host, the ids by which boards are
// addressed, and the names people give to them.
//
// A board is a way onto a network: an interface with a usable address, with or
// without RDMA behind it, and always, as the last one, the host itself. A
// machine without a network has the host as board 0.
//
// A NIC id has the shape of a MAC address in the low 48 bits of a number. The
// id of an IPv4 address is 02:00:a:b:c:d, so it can be turned back into the
// address by anyone. The id of an IPv6 address is 06 followed by a hash; the
// address behind it is known to a [Directory] that resolved it or learned it.
//
// The package doesn't open connections and doesn't watch interfaces come and
// go. What a peer claims about itself counts only where no look-up answers, and
// never for the boards of this host.
//
// A Directory is a snapshot of the boards plus a growing table of peers; all its
// methods may be called at once from any goroutine. Values handed out are
// copies.
//
// Where to read next: id.go for ids, parse.go for the spellings of a name,
// resolve.go for who answers a name, filter.go for which boards count, system.go and its neighbours sysfs.go,
// inet6.go and rdma.go for what is asked of the operating system.
package nic
