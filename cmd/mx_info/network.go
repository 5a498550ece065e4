package main

import (
	"fmt"
	"io"

	"gomx/mx"
)

// network says how other hosts are reached.
type network struct {
	Works          bool   `json:"works"`
	Reason         string `json:"reason,omitempty"` // why not
	Networks       string `json:"networks"`         // that are selected
	Ports          string `json:"ports"`            // first-last, one for each endpoint id
	Listening      string `json:"listening,omitempty"`
	Secret         bool   `json:"secret"`
	TLS            bool   `json:"tls"`
	KeepAlive      string `json:"keepalive"`
	ConnectTimeout string `json:"connect_timeout"`
}

// findNetwork opens an endpoint on the board and asks where it listens.
func findNetwork(transports []mx.TransportInfo, variables []mx.Variable, board int) network {
	value := map[string]string{}
	for _, v := range variables {
		value[v.Name] = v.Value
	}
	n := network{
		Networks: value["MX_NET"], Ports: value["MX_PORT_RANGE"],
		Secret: value["MX_SECRET"] != "none", TLS: value["MX_TLS"] != "none",
		KeepAlive: value["MX_KEEPALIVE"], ConnectTimeout: value["MX_CONNECT_TIMEOUT"],
	}
	for _, t := range transports {
		if t.Name == "tcp" && !t.Available {
			n.Reason = t.Reason
			return n
		}
	}
	ep, err := mx.OpenEndpoint(uint32(board), mx.AnyEndpoint, trialFilter, mx.WithTransports("tcp"))
	if err != nil {
		n.Reason = err.Error()
		return n
	}
	for _, f := range ep.Diagnostics() {
		if f.Name == "listens on" {
			n.Listening = f.Value
		}
	}
	if err := ep.Close(); err != nil {
		n.Reason = err.Error()
	}
	n.Works = n.Reason == ""
	return n
}

func (n *network) print(w io.Writer) {
	if !n.Works {
		fmt.Fprintf(w, "Other hosts: no: %s\n", n.Reason)
	} else {
		fmt.Fprintf(w, "Other hosts: yes, an endpoint that was opened to try it listened on %s\n", n.Listening)
	}
	fmt.Fprintf(w, "\tnetworks: %s\n\tports: %s\n", n.Networks, n.Ports)
	fmt.Fprintf(w, "\tsecret: %s\n\tTLS: %s\n", onOff(n.Secret), onOff(n.TLS))
	fmt.Fprintf(w, "\ta vanished host is noticed within %s, an address is tried for %s\n", n.KeepAlive, n.ConnectTimeout)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
