package turns

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"gomx/internal/cmdline"
)

// Media are what messages travel over, as -over has them.
var Media = []string{SHM, TCP, RDMA}

// Names of media.
const (
	SHM  = "shm"
	TCP  = "tcp"
	RDMA = "rdma"
)

type options struct {
	program  *Program
	quick    bool
	rounds   int
	scale    int
	only     *regexp.Regexp
	against  string
	programs string
	from     string
	timeout  time.Duration
	free     bool
	over     string
	rig      rig
	busy     bool
	plot     string
	write    func(to io.Writer, t *Table) error
}

// parse reads the command line. Its error after -h, -version and -completion is for cmdline.Answer.
func (p *Program) parse(args []string) (*options, error) {
	o := &options{program: p, write: writeText}
	f := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", p.Rounds, "measure everything `n` times over")
	f.IntVar(&o.scale, "scale", 1, "divide all counts by `n`, to see whether everything runs")
	only := f.String("only", "", "measure the rows whose name matches this `expression`, of all there are; . is all, and without it some are left out")
	f.StringVar(&o.against, "against", "", "measure the checkout in this `folder` as well")
	f.StringVar(&o.programs, "programs", "", "take the programs from this `folder` if it exists, else build them there and leave them")
	f.StringVar(&o.from, "from", "", "measure nothing, and print the figures of earlier runs with -json (`list` of files)")
	f.DurationVar(&o.timeout, "timeout", p.Timeout, "longest time for one run of one program (`duration`)")
	f.BoolVar(&o.free, "free", false, "bind nothing to cores")
	f.StringVar(&o.over, "over", SHM, "what messages of gomx and the MPIs travel over (`medium`: shm, tcp by the loopback interface, or rdma)")
	f.StringVar(&o.rig.device, "device", "", "the RDMA device to measure over (`name`; default the first one), its port 1")
	f.IntVar(&o.rig.gid, "gid", -1, "the `index` of the device's GID for those that take one; below 0 they choose")
	f.BoolVar(&o.busy, "busy", false, "let as many processes compute meanwhile as there are cores")
	asJSON := f.Bool("json", false, "print one JSON object for each row and subject, with the figures of all rounds")
	asMarkdown := f.Bool("markdown", false, "print tables for the documentation")
	f.StringVar(&o.plot, "plot", "", p.Plot)
	if p.Quick {
		f.BoolVar(&o.quick, "quick", false, "measure the first two points of each curve, once")
	}
	_, err := cmdline.Parse(f, args)
	if err != nil {
		return nil, err
	}
	switch {
	case *asJSON && *asMarkdown:
		return nil, errors.New("-json and -markdown exclude each other")
	case *asJSON:
		o.write = writeJSON
	case *asMarkdown:
		o.write = writeMarkdown
	}
	err = o.check(*only)
	if o.quick {
		o.rounds = 1
	}
	return o, err
}

func (o *options) check(only string) (err error) {
	if o.only, err = regexp.Compile(only); err != nil {
		return err
	}
	switch {
	case o.rounds < 1 || o.scale < 1:
		return fmt.Errorf("-rounds %d, -scale %d: want numbers above 0", o.rounds, o.scale)
	case !slices.Contains(Media, o.over):
		return fmt.Errorf("-over %s: want %s", o.over, strings.Join(Media, ", "))
	case o.programs != "" && o.against != "":
		return errors.New("-programs and -against exclude each other: what is built in two checkouts is not kept")
	case len(o.wanted()) == 0:
		return fmt.Errorf("-only %s: no row has such a name", only)
	}
	if o.over == RDMA && o.from == "" {
		if err := o.rig.findDevice(); err != nil {
			return fmt.Errorf("-over rdma: %w", err)
		}
	}
	if o.plot != "" {
		return o.program.Draws(o.plot)
	}
	return nil
}

// wanted are the rows that are to be measured, or to be taken from earlier runs.
func (o *options) wanted() []Row {
	return slices.DeleteFunc(o.program.Rows(o.scale), func(r Row) bool {
		return o.quick && !r.Quick || !o.only.MatchString(r.Name) || r.More && o.only.String() == "" && o.from == ""
	})
}
