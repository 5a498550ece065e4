package terminal

import (
	"bufio"
	"io"
)

// readKeys sends each key that is pressed: a letter, or a sequence that begins with an escape.
func readKeys(in io.Reader, keys chan<- string) {
	defer close(keys)
	r := bufio.NewReader(in)
	for {
		k, _, err := r.ReadRune()
		if err != nil {
			return
		}
		key := string(k)
		if k == '\x1b' && r.Buffered() > 0 { // the terminal writes a sequence at once
			for r.Buffered() > 0 {
				k, _, _ = r.ReadRune()
				key += string(k)
				if len(key) > 2 && (k >= '@' && k <= '~') {
					break
				}
			}
		}
		keys <- key
	}
}
