package main

import (
	"errors"
	"fmt"
	"slices"

	"gomx/exs"
)

// bounds says what modes do not measure.
const bounds = "small packets, those in place and persistent memory are of type packet, the former with 64 KiB at most; conn and TCP are streams"

// mostPoints bounds a plan.
const mostPoints = 1 << 16

// plan makes the orders of all points, series by series.
func (o *options) plan(modes, types []string, inFlight, lengths []int) error {
	for _, typ := range types {
		for _, mode := range modes {
			for i, n := range inFlight {
				if blocking := mode == modeConn || mode == modeTCP; blocking && i > 0 {
					continue
				} else if blocking {
					n = 1
				}
				for _, length := range lengths {
					p := order{Mode: mode, Type: typ, Length: length, InFlight: n, Latency: o.latency, Transports: o.transports, Spin: o.spin}
					if p.leftOut() {
						continue
					}
					if err := p.check(); err != nil {
						return err
					}
					if o.points = append(o.points, p); len(o.points) > mostPoints {
						return fmt.Errorf("more than %d points to measure: take larger steps", mostPoints)
					}
				}
			}
		}
	}
	if len(o.points) == 0 {
		return errors.New("nothing to measure: " + bounds)
	}
	return o.neglected(modes)
}

// neglected returns why one of the flags that were given says nothing about what will be measured, or nil.
func (o *options) neglected(modes []string) error {
	for _, mode := range modes {
		if o.given["mode"] && !slices.ContainsFunc(o.points, func(p order) bool { return p.Mode == mode }) {
			return fmt.Errorf("-mode %s: with these flags it measures nothing: %s", mode, bounds)
		}
	}
	if o.given["inflight"] && !slices.ContainsFunc(o.points, func(p order) bool { return p.Mode != modeConn && p.Mode != modeTCP }) {
		return errors.New("-inflight: conn and tcp send one at a time: leave it out, or add a mode")
	}
	return nil
}

// leftOut says that a point belongs to the plan only as the sum of its lists.
func (o *order) leftOut() bool {
	switch o.Mode {
	case modePersistent:
		return o.Type != typePacket
	case modeSmall, modeInPlace:
		return o.Type != typePacket || o.Length > exs.MaxSmallPacket
	case modeConn, modeTCP:
		return o.Type != typeStream
	}
	return false
}

// title names the point.
func (o *order) title() string { return fmt.Sprintf("%s, %d B", o.series(), o.Length) }

// series names the line that the point belongs to.
func (o *order) series() string {
	switch {
	case o.Mode == modeTCP:
		return "TCP sockets"
	case o.Mode == modeConn:
		return "net.Conn of exs"
	case o.Latency:
		return o.Type + ", " + o.Mode
	}
	return fmt.Sprintf("%s, %s, %d in flight", o.Type, o.Mode, o.InFlight)
}
