package turns

import (
	"errors"
	"fmt"
	"os"
)

// rig is what this machine has for a comparison, beside what is installed.
type rig struct {
	device string // the RDMA device, for those that take one by name
	gid    int    // index of its address; below 0 everybody chooses
}

// devicesFolder has a folder for every RDMA device.
const devicesFolder = "/sys/class/infiniband"

// findDevice makes sure of an RDMA device. Without a name it is the first one.
func (r *rig) findDevice() error {
	devices, err := os.ReadDir(devicesFolder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, d := range devices {
		if r.device == "" {
			r.device = d.Name()
		}
		if r.device == d.Name() {
			return nil
		}
	}
	if r.device == "" {
		return errors.New("this machine has no RDMA device")
	}
	return fmt.Errorf("this machine has no RDMA device %s", r.device)
}

// verbsVariables have UCX, which both MPIs stand on, send everything through
// reliable-connected queue pairs of the device.
func (r rig) verbsVariables() []string {
	all := []string{
		"UCX_TLS=rc,self", "UCX_NET_DEVICES=" + r.device + ":1",
		// The datagrams that UCX makes connections with: it compares the address that they went to
		// with a header that Soft-RoCE fills otherwise, drops them all, and never connects.
		"UCX_UD_VERBS_ETH_DGID_CHECK=n",
	}
	if r.gid >= 0 {
		all = append(all, fmt.Sprintf("UCX_IB_GID_INDEX=%d", r.gid))
	}
	return all
}
