package mx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gomx/transport/rdma"
)

// rdmaSettings is what the variables say about RDMA.
type rdmaSettings struct {
	device         string // "mlx5_0" or "mlx5_0/1"; empty: that of the board
	credits, slots int
}

func defaultRDMA() rdmaSettings {
	return rdmaSettings{credits: rdma.DefaultCredits, slots: rdma.DefaultSlots}
}

var rdmaVariables = []variable{
	{name: "MX_RDMA_DEVICE", help: "RDMA device to use, such as mlx5_0, or port of it, such as mlx5_0/1; auto: that of the endpoint's board",
		show: func(e *environment) string { return orAuto(e.rdma.list())[0] },
		set:  func(e *environment, s string) error { return e.rdma.setDevice(s) }},
	{name: "MX_RDMA_CREDITS", help: fmt.Sprintf("credits that a peer gets over RDMA, in frames, from %d to %d", rdma.LeastCredits, rdma.MostCredits),
		show: func(e *environment) string { return strconv.Itoa(e.rdma.credits) },
		set: func(e *environment, s string) error {
			return setCount(&e.rdma.credits, s, rdma.LeastCredits, rdma.MostCredits)
		}},
	{name: "MX_RDMA_SLOTS", help: fmt.Sprintf("frames that an endpoint can buffer over RDMA before it has many peers, from %d to %d; each locks %d bytes of memory",
		rdma.LeastSlots, rdma.MostSlots, rdma.SlotSize),
		show: func(e *environment) string { return strconv.Itoa(e.rdma.slots) },
		set: func(e *environment, s string) error {
			return setCount(&e.rdma.slots, s, rdma.LeastSlots, rdma.MostSlots)
		}},
}

// list is the device, if there is one.
func (c *rdmaSettings) list() []string {
	if c.device == "" {
		return nil
	}
	return []string{c.device}
}

// setDevice reads the name of a device, or of a port of it.
func (c *rdmaSettings) setDevice(s string) error {
	if s == "auto" {
		c.device = ""
		return nil
	}
	device, port, some := strings.Cut(s, "/")
	n, err := strconv.ParseUint(port, 10, 8)
	if device == "" || strings.ContainsAny(device, " \t,") || some && (err != nil || n == 0) {
		return errors.New("want a device such as mlx5_0, a port of it such as mlx5_0/1, or auto")
	}
	c.device = s
	return nil
}

// setCount reads a number within bounds.
func setCount(to *int, s string, least, most int) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return fmt.Errorf("want a number from %d to %d", least, most)
	}
	*to = n
	return nil
}
