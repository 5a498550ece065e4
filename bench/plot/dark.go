package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"
)

// darkInks are the colours of a picture that is looked at on a dark page, by those that it is drawn with.
var darkInks = [][2]color.RGBA{
	{background, rgb(0x0d1117)}, {ink, rgb(0xe6edf3)}, {faintText, rgb(0xb1bac4)}, {faintInk, rgb(0x8b949e)}, {gridInk, rgb(0x30363d)},
	{seriesInks[0], rgb(0x58b4f0)}, {seriesInks[1], rgb(0xff8a3d)}, {seriesInks[2], rgb(0x2fc79a)},
	{seriesInks[3], rgb(0xe58bc4)}, {seriesInks[4], rgb(0xe6c229)}, {seriesInks[5], rgb(0xb4b8c0)},
}

func rgb(v uint32) color.RGBA {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// bothSchemes is an SVG file that has other colours where the reader prefers a dark page. A style sheet within the file says so, which
// browsers follow in pictures of a document as well; what knows nothing of it shows the light one.
type bothSchemes struct{ light io.WriterTo }

func (b bothSchemes) WriteTo(w io.Writer) (int64, error) {
	var text bytes.Buffer
	if _, err := b.light.WriteTo(&text); err != nil {
		return 0, err
	}
	var sheet strings.Builder
	sheet.WriteString("<style>@media (prefers-color-scheme: dark) {\n")
	for _, pair := range darkInks {
		from, to := hex(pair[0]), hex(pair[1])
		fmt.Fprintf(&sheet, "[style*=\"fill:%s\"] { fill: %s !important }\n[style*=\"stroke:%s\"] { stroke: %s !important }\n", from, to, from, to)
	}
	sheet.WriteString("}</style>\n<g ")
	n, err := w.Write(bytes.Replace(text.Bytes(), []byte("<g "), []byte(sheet.String()), 1))
	return int64(n), err
}
