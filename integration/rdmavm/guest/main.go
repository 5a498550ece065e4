// Command guest is what the virtual machine of rdmavm runs: it loads the modules,
// makes the devices, runs the checks of the plan and tells what became of them.
//
// Under the name "on" it runs a command on a machine: on 2 command args... .
// Under the name "listening" it waits until a TCP port has a listener.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"gomx/integration/rdmavm/internal/plan"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "on":
		os.Exit(on(os.Args[1:]))
	case "listening":
		os.Exit(listening(os.Args[1:]))
	}
	if err := guest(); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err) // to the kernel's console, if that is all there is
		os.Exit(1)
	}
}

// guest does what the plan says. What is wrong with a check is a result, not an
// error.
func guest() error {
	output, err := port(plan.OutputPort)
	if err != nil {
		return err
	}
	defer output.Close()
	control, err := port(plan.ControlPort)
	if err != nil {
		return err
	}
	defer control.Close()
	tell := json.NewEncoder(control).Encode
	if err := work(output, tell); err != nil {
		return tell(plan.Message{Failure: err.Error()})
	}
	return tell(plan.Message{Done: true})
}

func work(output *os.File, tell func(any) error) error {
	text, err := os.ReadFile(plan.File)
	if err != nil {
		return err
	}
	var p plan.Plan
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if err := setUp(p); err != nil {
		return err
	}
	if p.Hosts > 1 {
		serve, err := listenForCommands()
		if err != nil {
			return err
		}
		if p.Host > 1 {
			if err := tell(plan.Message{Ready: true}); err != nil {
				return err
			}
			return serve() // until the machine is killed
		}
		go func() { _ = serve() }()
		if err := awaitHost(p.Hosts); err != nil {
			return err
		}
	}
	if err := tell(plan.Message{Ready: true}); err != nil {
		return err
	}
	for _, c := range p.Checks {
		r := runCheck(c, p.Hosts, output)
		if err := tell(plan.Message{Result: &r}); err != nil {
			return err
		}
	}
	return nil
}

// port opens a serial port that changes nothing of what it carries.
func port(name string) (*os.File, error) {
	if err := run("stty", "-F", name, "raw", "-echo"); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY, 0)
}

// setUp loads the modules and makes the devices.
func setUp(p plan.Plan) error {
	for _, file := range p.Modules {
		if err := run("insmod", file); err != nil {
			return err
		}
	}
	for key, value := range map[string]int{"HOST": p.Host, "HOSTS": p.Hosts} {
		if err := os.Setenv("GOMX_RDMAVM_"+key, strconv.Itoa(value)); err != nil {
			return err
		}
	}
	commands := oneHost
	if p.Hosts > 1 {
		commands = oneOfTwo
	}
	for line := range strings.Lines(common + commands) {
		line = strings.ReplaceAll(line, "HOST", strconv.Itoa(p.Host))
		if words := strings.Fields(line); len(words) > 0 {
			if err := run(words...); err != nil {
				return err
			}
		}
	}
	return nil
}

func run(words ...string) error {
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
