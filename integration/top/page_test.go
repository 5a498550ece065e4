//go:build linux

package top

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serve starts mx_top with its page on loopback, and returns the address that it prints. It ends with the test.
func (s *scene) serve(t *testing.T) (url string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.tools, "mx_top"), "-http", "127.0.0.1:0", "-w", "200ms", "-p", s.these())
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("mx_top, interrupted: %v", err)
		}
		kill.Stop()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// TestPage looks at a job of many ranks that talk, in a browser, by the keyboard alone, in light and in dark.
func TestPage(t *testing.T) {
	t.Parallel()
	long(t)
	const ranks = 64
	need(t, "chromium", "chromium")
	s := play(t, build(t), "talk", ranks)
	b := openBrowser(t)
	b.size(1280, 900)
	b.scheme("light")
	b.open(s.serve(t))
	b.until(`byId("endpoints").tBodies[0].rows.length >= ` + itoa(ranks))
	b.until(`history.get("") && history.get("").length > 4 && history.get("").at(-1).sent > 0`)
	b.picture("load-light")

	b.press("ArrowDown", "ArrowDown", "Enter")
	b.until(`byId("chosen").textContent === byId("endpoints").tBodies[0].rows[2].cells[1].textContent`)
	b.press("Escape")
	b.until(`byId("chosen").textContent === "all endpoints"`)

	b.press("2")
	b.until(`!byId("matrix").hidden && members.length === ` + itoa(ranks) + ` && members[1].label === "1"`)
	b.press("ArrowRight")
	b.until(`byId("cell").textContent.startsWith("0 (") && byId("cell").textContent.includes("to 1 (") && /[1-9].* frames\/s/.test(byId("cell").textContent)`)
	b.press("ArrowDown", "ArrowRight", "ArrowRight")
	b.until(`byId("cell").textContent.startsWith("1 (") && byId("cell").textContent.endsWith("nothing")`)
	b.until(`byId("cells").clientHeight < innerHeight && byId("cells").clientHeight >= 7 * ` + itoa(ranks))
	b.picture("matrix-light")

	b.press("t", "t") // light, then dark
	b.until(`document.documentElement.dataset.theme === "dark" && getComputedStyle(document.body).backgroundColor === "rgb(13, 17, 23)"`)
	b.picture("matrix-dark")
	b.press("1")
	b.picture("load-dark")
	b.press("t")
	b.until(`getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`)
	b.scheme("dark")
	b.until(`getComputedStyle(document.body).backgroundColor === "rgb(13, 17, 23)"`)

	b.press("4")
	b.until(`!byId("requests").hidden && byId("pending").tBodies[0].rows.length > 0`)
	b.picture("requests-dark")
	b.press("p")
	b.until(`byId("pause").getAttribute("aria-pressed") === "true"`)
	b.press("Tab", "Tab") // the job and the pause button come first
	b.until(`document.activeElement.id === "pause"`)
	b.press("Enter")
	b.until(`byId("pause").getAttribute("aria-pressed") === "false"`)
	b.press("Tab", "Tab", "ArrowRight")
	b.until(`!byId("load").hidden && document.activeElement.id === "tab-load"`)
	if n := b.eval(`document.querySelectorAll("script:not([src]), [style*=url], [src^=http], [href^=http]").length`); n != "0" {
		t.Errorf("%s elements of the page come from elsewhere", n)
	}
}

// TestPageOfHang shows the hang report as a graph.
func TestPageOfHang(t *testing.T) {
	t.Parallel()
	long(t)
	need(t, "chromium", "chromium")
	tools := build(t)
	for _, c := range []struct {
		name, wants, says string
		ranks             int
	}{
		{"crossed", `document.querySelectorAll("#graph path.cycle").length === 2`, "deadlock: rank 0 waits for rank 1", 2},
		{"star", `document.querySelectorAll("#graph > path").length === shown.size - 1`, "probable cause: rank 5 (not blocked in an MPI call)", 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := play(t, tools, c.name, c.ranks)
			b := openBrowser(t)
			b.size(1280, 900)
			b.scheme("light")
			b.open(s.serve(t))
			b.press("3")
			b.until(`byId("verdict").textContent.includes("` + c.says + `")`)
			b.until(c.wants)
			b.press("ArrowRight")
			b.until(`document.querySelector("#graph .at").dataset.rank === "1" && byId("node").textContent.includes("rank 1, process ` + itoa(s.pids[1]) + `")`)
			b.picture("waits-" + c.name + "-light")
			b.scheme("dark")
			b.picture("waits-" + c.name + "-dark")
		})
	}
}

// TestStrangersSeeNothing: pages of others, other names and those who do not know the address are refused.
func TestStrangersSeeNothing(t *testing.T) {
	t.Parallel()
	s := play(t, build(t), "crossed", 2)
	url := s.serve(t)
	host := strings.Split(url, "/")[2]
	ask := func(method, url, name string, header ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Host = host; name != "" {
			r.Host = name
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", url, answer.Header)
		}
		return answer.StatusCode, string(text)
	}
	port := host[strings.LastIndex(host, ":"):]
	for _, c := range []struct {
		method, url, name string
		status            int
		header            []string
	}{
		{"GET", url, "", http.StatusOK, nil},
		{"GET", url + "view.json", "localhost" + port, http.StatusOK, []string{"Origin", "http://localhost" + port, "Sec-Fetch-Site", "same-origin"}},
		{"GET", url + "view.json", "evil.example" + port, http.StatusForbidden, nil},
		{"GET", url + "view.json", "", http.StatusForbidden, []string{"Origin", "http://evil.example"}},
		{"GET", url + "view.json", "", http.StatusForbidden, []string{"Origin", "null"}},
		{"GET", url + "view.json", "", http.StatusForbidden, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}},
		{"GET", url, "", http.StatusOK, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}},
		{"GET", url, "", http.StatusForbidden, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}},
		{"POST", url + "view.json", "", http.StatusMethodNotAllowed, nil},
		{"GET", "http://" + host + "/", "", http.StatusNotFound, nil},
		{"GET", "http://" + host + "/view.json", "", http.StatusNotFound, nil},
	} {
		if status, text := ask(c.method, c.url, c.name, c.header...); status != c.status {
			t.Errorf("%s %s as %q with %q: status %d, want %d: %s", c.method, c.url, c.name, c.header, status, c.status, text)
		}
	}
}
