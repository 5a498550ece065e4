package nic

import "github.com/Mellanox/rdmamap"

// rdmaDevices names the RDMA devices behind an interface. A machine without any
// is spared the look at each interface.
func rdmaDevices(interfaceName string) []string {
	if len(rdmamap.GetRdmaDeviceList()) == 0 {
		return nil
	}
	device, err := rdmamap.GetRdmaDeviceForNetdevice(interfaceName)
	if err != nil || device == "" {
		return nil
	}
	return []string{device}
}
