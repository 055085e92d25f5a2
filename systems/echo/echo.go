// Package echo has the parts that dyno's echo servers share: their options, the work of one request, the counters of
// requests and answers, and the page that shows them.
package echo

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options are those that every echo server has.
type Options struct {
	// Listen is the address for clients, Metrics that of the page of metrics.
	Listen, Metrics string
	// Timeout limits the handling of one request; 0 means no limit.
	Timeout time.Duration
	// Delay is how long every answer is held back.
	Delay time.Duration
	// Spin is the number of rounds that a fixed loop makes for each request.
	Spin uint64
	// SilentOn and FailOn are texts of requests that are never answered, or are answered with an error: for tests.
	SilentOn, FailOn string
}

// Flags declares the options as flags; they have their values after flag.Parse. The time-out is this one by default.
func Flags(timeout time.Duration) *Options {
	options := &Options{}
	flag.StringVar(&options.Listen, "listen", "127.0.0.1:0", "address for clients")
	flag.StringVar(&options.Metrics, "metrics", "127.0.0.1:0", "address of the page of metrics")
	flag.DurationVar(&options.Timeout, "timeout", timeout, "limit for handling one request; 0 for none")
	flag.DurationVar(&options.Delay, "delay", 0, "how long every answer is held back")
	flag.Uint64Var(&options.Spin, "spin", 0, "rounds of a fixed loop for each request")
	flag.StringVar(&options.SilentOn, "silent-on", "", "never answer requests with this text")
	flag.StringVar(&options.FailOn, "fail-on", "", "answer requests with this text with an error")
	return options
}

// ErrSilent asks for no answer at all.
var ErrSilent = errors.New("this request gets no answer")

// ErrRefused is the error of requests with the text FailOn.
var ErrRefused = errors.New("this request was to fail")

// Answer does the work of one request and returns the text of its answer. It returns the error of ctx when that ends
// during the delay, and ErrSilent or ErrRefused for the texts that ask for them.
func (o *Options) Answer(ctx context.Context, text string) (string, error) {
	switch {
	case text == "":
	case text == o.SilentOn:
		return "", ErrSilent
	case text == o.FailOn:
		return "", ErrRefused
	}
	if o.Spin > 0 {
		spin(o.Spin)
	}
	if o.Delay > 0 {
		return text, wait(ctx, o.Delay)
	}
	return text, nil
}

func wait(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spin makes rounds of three shifts each, which depend on each other, so that no compiler can leave one out. The
// generator has no zero in its cycle.
// Source: G. Marsaglia, Xorshift RNGs, Journal of Statistical Software 8 (14), 2003.
//
//go:noinline
func spin(rounds uint64) {
	state := uint64(88172645463325252)
	for range rounds {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	if state == 0 {
		panic("a xorshift generator never reaches zero")
	}
}

// Counters count what a server received and answered. They are apart in memory, so that two CPUs which count one each
// do not wait for each other.
type Counters struct {
	requests  atomic.Uint64
	_         [56]byte
	responses atomic.Uint64
	_         [56]byte
}

// Received counts a request, before anything in it is read.
func (c *Counters) Received() { c.requests.Add(1) }

// Answered counts an answer, an error included.
func (c *Counters) Answered() { c.responses.Add(1) }

// Identity is what a server tells of itself: its product, the modules that make it (the first is the product's own),
// and settings beside those of Options.
type Identity struct {
	Product  string
	Modules  []string
	Settings []Setting
}

// Setting is a name and its value.
type Setting [2]string

// Serve opens both addresses and writes one line of JSON, which tells them and the identity of the server. Then it
// serves the page of metrics and a CPU profile, and returns the listener for clients.
func (o *Options) Serve(counters *Counters, identity Identity, out io.Writer) (net.Listener, error) {
	clients, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, err
	}
	page, err := net.Listen("tcp", o.Metrics)
	if err != nil {
		return nil, err
	}
	versions, err := versions(identity.Modules)
	if err != nil {
		return nil, err
	}
	err = json.NewEncoder(out).Encode(map[string]any{
		"address":  clients.Addr().String(),
		"metrics":  page.Addr().String(),
		"product":  identity.Product,
		"version":  versions[0][1],
		"settings": slices.Concat(versions[1:], identity.Settings, o.settings()),
	})
	if err != nil {
		return nil, err
	}
	register(counters, identity.Product, versions[0][1])
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.Handler())
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	go http.Serve(page, mux)
	return clients, nil
}

func (o *Options) settings() []Setting {
	timeout := "none"
	if o.Timeout > 0 {
		timeout = o.Timeout.String()
	}
	return []Setting{
		{"timeout", timeout},
		{"delay", o.Delay.String()},
		{"spin", strconv.FormatUint(o.Spin, 10)},
		{"go", runtime.Version()},
		{"GOMAXPROCS", strconv.Itoa(runtime.GOMAXPROCS(0))},
	}
}

func register(counters *Counters, product, version string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "dyno_echo_info",
		Help:        "Always 1; the labels tell what this server is.",
		ConstLabels: prometheus.Labels{"product": product, "version": version},
	})
	info.Set(1)
	prometheus.MustRegister(info)
	counter := func(name, help string, value *atomic.Uint64) {
		options := prometheus.CounterOpts{Name: name, Help: help}
		read := func() float64 { return float64(value.Load()) }
		prometheus.MustRegister(prometheus.NewCounterFunc(options, read))
	}
	counter("rpc_requests_total", "Requests that were received.", &counters.requests)
	counter("rpc_responses_total", "Answers, errors included.", &counters.responses)
}

// versions are those of the modules, as the program was built, each with the last part of the module's path.
func versions(modules []string) ([]Setting, error) {
	built, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("the program does not know its modules: build it with modules")
	}
	versions := []Setting{}
	for _, module := range modules {
		at := slices.IndexFunc(built.Deps, func(dep *debug.Module) bool { return dep.Path == module })
		if at < 0 {
			return nil, fmt.Errorf("the program was built without the module %s", module)
		}
		versions = append(versions, Setting{path.Base(module), built.Deps[at].Version})
	}
	return versions, nil
}
