//go:build linux

package bell

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// post is where peers ring that can't use the futex: a datagram socket that only the
// owner has. Each peer is handed a socket of its own that is connected to it.
type post struct {
	fd     int
	name   string // of the abstract kind, which anybody on the host sees
	secret [secretSize]byte
}

const secretSize = 8

func openPost() (p post, err error) {
	_, _ = rand.Read(p.secret[:])
	p.fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return p, os.NewSyscallError("socket", err)
	}
	err = os.NewSyscallError("bind", unix.Bind(p.fd, &unix.SockaddrUnix{})) // the system chooses a name
	if err == nil {
		p.name, err = nameOf(p.fd)
	}
	if err != nil {
		_ = unix.Close(p.fd)
		return p, err
	}
	p.admit()
	return p, nil
}

func nameOf(fd int) (string, error) {
	a, err := unix.Getsockname(fd)
	if err != nil {
		return "", os.NewSyscallError("getsockname", err)
	}
	if u, ok := a.(*unix.SockaddrUnix); ok {
		return u.Name, nil
	}
	return "", errors.New("getsockname: no unix socket")
}

// admit has the system drop what does not begin with the secret, so that strangers
// who have seen the name wake nobody. Where it can't, they wake for nothing.
func (p *post) admit() {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		ifEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer  = unix.BPF_RET | unix.BPF_K
	)
	first, second := binary.BigEndian.Uint32(p.secret[:]), binary.BigEndian.Uint32(p.secret[4:])
	filter := [...]unix.SockFilter{
		{Code: load, K: 0},
		{Code: ifEqual, K: first, Jt: 0, Jf: 3},
		{Code: load, K: 4},
		{Code: ifEqual, K: second, Jt: 0, Jf: 1},
		{Code: answer, K: secretSize},
		{Code: answer, K: 0},
	}
	_ = unix.SetsockoptSockFprog(p.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
}

// letter is the datagram that lies in the socket handed to a peer. What it says is
// thereby nobody's to change, as what lies in the page would be.
//
//	0       4         8       12  16       24
//	+-------+---------+-------+---+--------+
//	| magic | version | flags | 0 | secret |
//	+-------+---------+-------+---+--------+
const (
	letterSize  = 16 + secretSize
	pageMagic   = 0x6c6c6562 // "bell"
	pageVersion = 2

	flagFenced = 1 // senders must fence before they look at the word
)

// invite makes the socket of one more peer. Its queue takes datagrams of ours alone.
func (p *post) invite(fenced bool) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	var own string
	err = os.NewSyscallError("connect", unix.Connect(fd, &unix.SockaddrUnix{Name: p.name}))
	if err == nil { // and has a name only now, so that no stranger has been before us
		err = os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrUnix{}))
	}
	if err == nil {
		own, err = nameOf(fd)
	}
	if err == nil {
		b := binary.NativeEndian.AppendUint32(nil, pageMagic)
		b = binary.NativeEndian.AppendUint32(b, pageVersion)
		b = binary.NativeEndian.AppendUint64(b, flags(fenced))
		b = append(b, p.secret[:]...)
		err = os.NewSyscallError("sendto", unix.Sendto(p.fd, b, unix.MSG_DONTWAIT, &unix.SockaddrUnix{Name: own}))
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func flags(fenced bool) uint64 {
	if fenced {
		return flagFenced
	}
	return 0
}

// readLetter takes the letter out of a socket that a peer has sent, and refuses
// anything on which a ring could block.
func readLetter(fd int) (fenced bool, secret [secretSize]byte, err error) {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	kind, kindErr := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err = errors.Join(err, kindErr); err != nil {
		return false, secret, fmt.Errorf("descriptor to ring with is no socket: %w", os.NewSyscallError("getsockopt", err))
	}
	if domain != unix.AF_UNIX || kind != unix.SOCK_DGRAM {
		return false, secret, fmt.Errorf("descriptor to ring with is a socket of family %d and type %d", domain, kind)
	}
	var b [letterSize]byte
	if n := take(fd, b[:]); n != letterSize {
		return false, secret, fmt.Errorf("letter of %d bytes, want %d", n, letterSize)
	}
	magic, version := binary.NativeEndian.Uint32(b[:]), binary.NativeEndian.Uint32(b[4:])
	if magic != pageMagic || version != pageVersion {
		return false, secret, fmt.Errorf("no bell: magic %#x, version %d", magic, version)
	}
	copy(secret[:], b[16:])
	return binary.NativeEndian.Uint64(b[8:])&flagFenced != 0, secret, nil
}

// take receives a datagram without waiting, and returns how many bytes it had; less
// than 0 if there was none. Descriptors that come along are put away elsewhere: to
// close them can take as long as the peer likes.
func take(fd int, into []byte) int {
	const mostSent = 253 // SCM_MAX_FD
	var control [16 + 4*mostSent + 4]byte
	n, got := receive(fd, into, control[:])
	if got > 0 {
		putAway(append([]byte(nil), control[:got]...))
	}
	return n
}

func putAway(control []byte) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		go func() {
			for _, fd := range fds {
				_ = unix.Close(fd)
			}
		}()
	}
}
