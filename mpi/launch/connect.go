package launch

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// pmiConn is a connection to a PMI server.
type pmiConn = net.Conn

// alien keeps files that have turned out to be somebody else's: a file that is collected closes its
// descriptor.
var alien struct {
	sync.Mutex
	files []*os.File
}

// takeDescriptor makes a connection of a socket that was left open across exec, and keeps it from
// the programs that this one starts.
func takeDescriptor(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "pmi")
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		alien.Lock()
		alien.files = append(alien.files, f)
		alien.Unlock()
		if err == nil {
			return nil, errAnotherFile
		}
		return nil, errClosedOnUs
	}
	defer f.Close()
	return net.FileConn(f) // a duplicate, which closes on exec
}

const throughAPort = "use a launcher that waits on a port (mpiexec.hydra -pmi-port), or set MX_RANK, MX_SIZE and MX_ROOT"

var (
	errClosedOnUs = errors.New("the descriptor is not open here: something between the launcher and this program has closed it, " +
		"as container runtimes and sudo do; " + throughAPort)
	errAnotherFile = errors.New("the descriptor is no socket: something between the launcher and this program has closed the launcher's, " +
		"as container runtimes and sudo do, and another file has its number now; " + throughAPort)
)

func dialAddress(address string, limit time.Duration) (net.Conn, error) {
	return (&net.Dialer{Timeout: limit}).Dial("tcp", address) // without delay: net sets TCP_NODELAY
}
