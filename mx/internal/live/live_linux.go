package live

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// prefix begins all names. User, process and a random number follow.
const prefix = "@gomx-live/"

// mostNames bounds how many names are looked at. Strangers can make some, too.
const mostNames = 1 << 16

func listen() (net.Listener, error) {
	var random [8]byte
	_, _ = rand.Read(random[:])
	return net.Listen("unix", fmt.Sprintf("%s%d/%d/%s", prefix, os.Geteuid(), os.Getpid(), hex.EncodeToString(random[:])))
}

// peerOf returns whose process is at the other end: of a connection that was made here, the one that has called listen.
func peerOf(c net.Conn) (p Peer, ok bool) {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return Peer{}, false
	}
	var cred *syscall.Ucred
	var failed error
	if err = raw.Control(func(fd uintptr) {
		cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || failed != nil {
		return Peer{}, false
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, true
}

// names returns what the names of all sockets that listen say, each once. Anybody can have written them.
func names() (list []Socket, err error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	known := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() && len(list) < mostNames {
		before, rest, ok := strings.Cut(lines.Text(), prefix)
		if !ok {
			continue
		}
		parts := strings.Split(rest, "/")
		columns := strings.Fields(before)
		if len(parts) != 3 || len(columns) == 0 {
			continue
		}
		uid, errUID := strconv.Atoi(parts[0])
		pid, errPID := strconv.Atoi(parts[1])
		if name := prefix + rest; errUID == nil && errPID == nil && !known[name] {
			known[name] = true
			list = append(list, Socket{PID: pid, uid: uid, name: name, inode: columns[len(columns)-1]})
		}
	}
	return list, lines.Err()
}

// Sockets returns where the processes of this user, or for root of all, say they serve, the lowest process first; or with process numbers
// where these do. The error says why the first of these that does not does not; the list has the others all the same.
func Sockets(pids []int) (list []Socket, err error) {
	all, err := names()
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		sockets := of(all, pid)
		if len(sockets) == 0 && err == nil {
			err = fmt.Errorf("process %d: %w", pid, whyNone(pid))
		}
		list = append(list, sockets...)
	}
	for _, s := range all {
		if len(pids) == 0 && (os.Geteuid() == root || s.uid == os.Geteuid()) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b Socket) int { return cmp.Compare(a.PID, b.PID) })
	return list, err
}

// of returns the sockets of a process.
func of(all []Socket, pid int) (sockets []Socket) {
	for _, s := range all {
		if s.PID == pid {
			sockets = append(sockets, s)
		}
	}
	return sockets
}

// socketsOf returns a process's sockets, or why there are none.
func socketsOf(pid int) (sockets []Socket, err error) {
	all, err := names()
	if err != nil {
		return nil, err
	}
	if sockets = of(all, pid); len(sockets) > 0 {
		return sockets, nil
	}
	return nil, whyNone(pid)
}

// whyFull says what there is to say of a socket that nobody takes connections from: its process may be stopped, or another one
// has taken the name. Nobody but the owner and root can see which.
func (s Socket) whyFull() error {
	fds := "/proc/" + strconv.Itoa(s.PID) + "/fd"
	list, err := os.ReadDir(fds)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoProcess
	case err != nil:
		return ErrNoAnswer
	}
	for _, fd := range list {
		if to, err := os.Readlink(fds + "/" + fd.Name()); err == nil && to == "socket:["+s.inode+"]" {
			return ErrNoAnswer
		}
	}
	return fmt.Errorf("%w by a process that takes no connections", ErrTaken)
}

// whyNone says why a process has no sockets.
func whyNone(pid int) error {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoProcess
	case err != nil:
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() != 0 && int(st.Uid) != os.Geteuid() {
		return ErrOtherUser
	}
	return ErrNotServing
}
