//go:build !linux

package live

import "net"

func listen() (net.Listener, error) { return nil, ErrUnsupported }

func peerOf(net.Conn) (p Peer, ok bool) { return Peer{}, false }

func socketsOf(int) (sockets []Socket, err error) { return nil, ErrUnsupported }

func (s Socket) whyFull() error { return ErrNoAnswer }

// Sockets returns that there is no way to find out.
func Sockets([]int) (list []Socket, err error) { return nil, ErrUnsupported }
