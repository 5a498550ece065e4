// Command hello sends one message from one endpoint to another.
package main

import (
	"fmt"
	"time"

	"gomx/mx"
)

func main() {
	mx.SetErrorHandler(mx.ErrorsAreFatal) // so no call below returns an error
	mx.Init()
	a, _ := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0xcafe)
	b, _ := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0xcafe)
	nic, id, _ := mx.DecomposeEndpointAddr(b.Addr()) // or mx.HostnameToNICID("there") and a number
	toB, _ := a.Connect(nic, id, 0xcafe, 10*time.Second)

	buf := make([]byte, 64)
	recv, _ := b.Irecv(buf, 42, mx.MatchMaskNone, nil)
	a.Isend([]byte("hello"), toB, 42, nil)
	st, _, _ := b.Wait(recv, mx.Infinite)
	fmt.Printf("%s: %d bytes, match %d\n", buf[:st.XferLength], st.MsgLength, st.MatchInfo)
	a.Close()
	b.Close()
	mx.Finalize()
}
