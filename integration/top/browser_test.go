//go:build linux

package top

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// need returns the path of a program of the system. Without it the test is skipped, but in CI, which installs it, it fails.
func need(t *testing.T, program, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed (Debian: %s), and CI should have it", program, pkg)
	}
	if err != nil {
		t.Skipf("%s is not installed (Debian: %s)", program, pkg)
	}
	return path
}

// browser is a Chromium without a window, with one page, told what to do over a pair of pipes by the DevTools protocol.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	last    int
}

// patience bounds each answer of the browser.
const patience = 40 * time.Second

func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := need(t, "chromium", "chromium")
	hears, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, says, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{hears, says}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its helpers, too
		_ = cmd.Wait()
		to.Close()
		from.Close()
	})
	hears.Close()
	says.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	target := struct{ TargetID string }{}
	b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	attached := struct{ SessionID string }{}
	b.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.do("Page.enable", nil, nil)
	return b
}

// do gives a command, and waits for its result.
func (b *browser) do(method string, params, result any) {
	b.t.Helper()
	b.last++
	if params == nil {
		params = map[string]any{}
	}
	text, err := json.Marshal(map[string]any{"id": b.last, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		text, err = json.Marshal(map[string]any{"id": b.last, "method": method, "params": params})
	}
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	stuck := time.AfterFunc(patience, func() { b.to.Close() }) // then it ends, and so does reading
	defer stuck.Stop()
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser has ended: %v", method, err)
		}
		answer := struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}{}
		if err := json.Unmarshal(line[:len(line)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.last {
			continue // it tells what happens
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// eval returns what an expression is on the page, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	got := struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Text string }
	}{}
	b.do("Runtime.evaluate", map[string]any{"expression": "(() => { try { return String(" + expression + ") } catch (e) { return 'error: ' + e } })()"}, &got)
	return fmt.Sprint(got.Result.Value)
}

// until waits for an expression to be true on the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); b.eval(expression) != "true"; {
		if time.Now().After(end) {
			b.t.Fatalf("never true: %s\nit is %s on a page that says\n%s", expression, b.eval(expression), b.eval("document.body.innerText"))
		}
	}
}

// open opens the page, and waits until it shows something.
func (b *browser) open(url string) {
	b.t.Helper()
	b.do("Page.navigate", map[string]any{"url": url}, nil)
	b.until(`document.readyState === "complete" && view !== null`)
}

// keys are those that have no letter.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

// press presses keys, one after the other.
func (b *browser) press(names ...string) {
	b.t.Helper()
	for _, name := range names {
		event := map[string]any{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": keys[name]}
		if keys[name] == 0 {
			event["text"] = name
		}
		if name == "Enter" {
			event["text"] = "\r"
		}
		b.do("Input.dispatchKeyEvent", event, nil)
		event["type"] = "keyUp"
		delete(event, "text")
		b.do("Input.dispatchKeyEvent", event, nil)
	}
}

// scheme has the page think that its reader prefers light or dark.
func (b *browser) scheme(name string) {
	b.t.Helper()
	b.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}}, nil)
}

// size sets how large the page is.
func (b *browser) size(width, height int) {
	b.t.Helper()
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// picturesKey names a folder for pictures of the page, to be looked at.
const picturesKey = "TOP_TEST_PICTURES"

// picture takes one of the page, which must have more than one colour, and keeps it if there is a folder for it.
func (b *browser) picture(name string) {
	b.t.Helper()
	shot := struct{ Data string }{}
	b.do("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if dir := os.Getenv(picturesKey); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	shown, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	if !colourful(shown) {
		b.t.Errorf("%s: the picture of the page has one colour only", name)
	}
}

// colourful reports whether a picture has more than one colour.
func colourful(i image.Image) bool {
	r := i.Bounds()
	first := color.RGBA64Model.Convert(i.At(r.Min.X, r.Min.Y))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if color.RGBA64Model.Convert(i.At(x, y)) != first {
				return true
			}
		}
	}
	return false
}
