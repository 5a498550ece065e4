package live

import (
	"bufio"
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

// userOf returns whose process is at the other end.
func userOf(c net.Conn) (uid int, ok bool) {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *syscall.Ucred
	var failed error
	if err = raw.Control(func(fd uintptr) {
		cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || failed != nil {
		return 0, false
	}
	return int(cred.Uid), true
}

// name is what a socket's name says. Anybody can have written it.
type name struct {
	socket   string
	uid, pid int
}

// names returns the names of all sockets that listen, each once.
func names() (list []name, err error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() && len(list) < mostNames {
		_, rest, ok := strings.Cut(lines.Text(), prefix)
		if !ok {
			continue
		}
		parts := strings.Split(rest, "/")
		if len(parts) != 3 {
			continue
		}
		uid, errUID := strconv.Atoi(parts[0])
		pid, errPID := strconv.Atoi(parts[1])
		n := name{prefix + rest, uid, pid}
		if errUID == nil && errPID == nil && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, lines.Err()
}

// Sockets returns where the processes of this user, or for root of all, say they serve; or with process numbers where these do. The error says why the
// first of these that does not does not; the list has the others all the same.
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
		for _, socket := range sockets {
			list = append(list, Socket{pid, socket})
		}
	}
	for _, n := range all {
		if len(pids) == 0 && (os.Geteuid() == 0 || n.uid == os.Geteuid()) {
			list = append(list, Socket{n.pid, n.socket})
		}
	}
	return list, err
}

// of returns the sockets of a process.
func of(all []name, pid int) (sockets []string) {
	for _, n := range all {
		if n.pid == pid {
			sockets = append(sockets, n.socket)
		}
	}
	return sockets
}

// List returns the processes of this user, or for root of all, that say they serve, the lowest first.
func List() (pids []int, err error) {
	all, err := names()
	for _, n := range all {
		if os.Geteuid() == 0 || n.uid == os.Geteuid() {
			pids = append(pids, n.pid)
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), err
}

// namesOf returns the names of a process's sockets, or why there are none.
func namesOf(pid int) (sockets []string, err error) {
	all, err := names()
	if err != nil {
		return nil, err
	}
	if sockets = of(all, pid); len(sockets) > 0 {
		return sockets, nil
	}
	return nil, whyNone(pid)
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
