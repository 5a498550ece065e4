package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gomx/integration/rdmavm/internal/plan"
)

// runCheck runs a check, with its server on the last host.
func runCheck(c plan.Check, hosts int, output *os.File) plan.Result {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), c.Limit)
	defer cancel()
	var said transcript
	if c.Stream {
		said.also = output
	}
	exit, err := runBoth(ctx, c, hosts, &said)
	r := plan.Result{Name: c.Name, Exit: exit, Took: time.Since(began)}
	switch {
	case ctx.Err() != nil:
		r.Why = fmt.Sprintf("did not end within %v", c.Limit)
	case err != nil:
		r.Why = err.Error()
	case !matches(c.Want, said.client.Bytes()):
		r.Why = fmt.Sprintf("the output has nothing like %q", c.Want)
	}
	if c.Note != "" {
		if m := regexp.MustCompile(c.Note).FindSubmatch(said.client.Bytes()); len(m) > 1 {
			r.Note = string(m[1])
		}
	}
	if r.Why != "" && !c.Stream {
		fmt.Fprintf(output, "--- %s: %s\n%s--- its server:\n%s---\n",
			strings.Join(c.Client, " "), r.Why, said.client.Bytes(), said.server.Bytes())
	}
	return r
}

func matches(pattern string, text []byte) bool {
	return regexp.MustCompile(pattern).Match(text)
}

// transcript is what the programs of a check have printed.
type transcript struct {
	client, server bytes.Buffer
	also           *os.File // gets the client's output as it comes
}

// runBoth returns the client's exit status, and an error if one of the two failed.
func runBoth(ctx context.Context, c plan.Check, hosts int, said *transcript) (exit int, err error) {
	served := make(chan error, 1)
	if len(c.Server) > 0 {
		server := command(ctx, c.Dir, onHost(hosts, within(c.ServerIn, c.Server...)...)...)
		server.Stdout, server.Stderr = &said.server, &said.server
		if err := server.Start(); err != nil {
			return -1, err
		}
		go func() { served <- server.Wait() }()
		ready := command(ctx, "", onHost(hosts, within(c.ServerIn, "listening", strconv.Itoa(c.Port))...)...)
		if err := ready.Run(); err != nil {
			_ = server.Process.Kill()
			return -1, fmt.Errorf("the server does not listen: %w", errors.Join(err, <-served))
		}
	} else {
		served <- nil
	}
	client := command(ctx, c.Dir, within(c.ClientIn, c.Client...)...)
	client.Stdout = &said.client
	if said.also != nil {
		client.Stdout = io.MultiWriter(&said.client, said.also)
	}
	client.Stderr = client.Stdout
	clientErr := client.Run()
	exit = -1
	if client.ProcessState != nil {
		exit = client.ProcessState.ExitCode()
	}
	if clientErr != nil {
		clientErr = fmt.Errorf("%s: %w", c.Client[0], clientErr)
		time.AfterFunc(time.Second, func() { serverGone(ctx, c, hosts) })
	}
	if err := <-served; err != nil {
		clientErr = errors.Join(clientErr, fmt.Errorf("the server: %w", err))
	}
	return exit, clientErr
}

// serverGone ends a server that waits for a client that has failed.
func serverGone(ctx context.Context, c plan.Check, hosts int) {
	if len(c.Server) > 0 {
		_ = command(ctx, "", onHost(hosts, "killall", c.Server[0])...).Run()
	}
}

// within returns the command that runs another one in a network namespace.
func within(namespace string, words ...string) []string {
	if namespace == "" {
		return words
	}
	return append([]string{"ip", "netns", "exec", namespace}, words...)
}

// onHost returns the command that runs another one on the last host.
func onHost(hosts int, words ...string) []string {
	if hosts == 1 {
		return words
	}
	return append([]string{"on", strconv.Itoa(hosts)}, words...)
}

func command(ctx context.Context, dir string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.WaitDelay = 2 * time.Second // for the output, which orphans may hold open
	return cmd
}
