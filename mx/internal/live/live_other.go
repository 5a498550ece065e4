//go:build !linux

package live

import "net"

func listen() (net.Listener, error) { return nil, ErrUnsupported }

func userOf(net.Conn) (uid int, ok bool) { return 0, false }

// List returns that there is no way to find out.
func List() (pids []int, err error) { return nil, ErrUnsupported }

func namesOf(int) (sockets []string, err error) { return nil, ErrUnsupported }

// Sockets returns that there is no way to find out.
func Sockets([]int) (list []Socket, err error) { return nil, ErrUnsupported }
