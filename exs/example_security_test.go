package exs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"gomx/exs"
)

// An http.Server serves at a Listener, and an http.Transport dials with DialContext.
func Example_http() {
	ln, err := exs.Listen("exs", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "you asked for %s", r.URL.Path)
	})}
	go server.Serve(ln)
	defer server.Close()

	client := &http.Client{Transport: &http.Transport{DialContext: exs.DialContext}}
	defer client.CloseIdleConnections()
	r, err := client.Get("http://" + ln.Addr().String() + "/report")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	fmt.Printf("%s, %v\n", body, err)
	// Output: you asked for /report, <nil>
}

// TLS from end to end is that of crypto/tls: it takes any net.Listener and net.Conn. Here httptest makes the certificate.
func Example_https() {
	ln, err := exs.Listen("exs", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "in TLS: ", r.TLS != nil)
	}))
	server.Listener.Close()
	server.Listener = ln
	server.StartTLS()
	defer server.Close()

	client := server.Client()
	client.Transport.(*http.Transport).DialContext = exs.DialContext
	r, err := client.Get("https://" + ln.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	fmt.Printf("%s, %v\n", body, err)
	// Output: in TLS: true, <nil>
}

// With a secret, endpoints of other hosts that don't know it are refused. Both sides name it, or have it in MX_SECRET_FILE.
func ExampleListenConfig() {
	secret := []byte("read this from a file: 32 random bytes")
	config := &exs.ListenConfig{Secret: secret, Backlog: 512}
	ln, err := config.Listen(context.Background(), "exs", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ln.Close()
	go serve(ln, sendBack)

	d := &exs.Dialer{Secret: secret}
	c, err := d.DialContext(context.Background(), "exs", ln.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Fprintln(c, "hello")
	var answer string
	fmt.Fscan(c, &answer)
	fmt.Println(answer)
	// Output: hello
}
