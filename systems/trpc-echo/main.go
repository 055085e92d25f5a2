// Command trpc-echo is the server of trpc-go with one service, trpc.test.helloworld.Greeter: both methods answer the
// text of the request. It runs on the tnet transport, as trpc_go.yaml would configure it.
//
// It writes one line of JSON to standard output, with its addresses and versions, and serves until it is killed.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"strconv"
	"time"

	"trpc.group/trpc-go/tnet"
	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"
	trpclog "trpc.group/trpc-go/trpc-go/log"
	"trpc.group/trpc-go/trpc-go/server"
	"trpc.group/trpc-go/trpc-go/testdata/trpc/helloworld"
	_ "trpc.group/trpc-go/trpc-go/transport/tnet"

	"dyno/systems/echo"
)

const (
	serviceName = "trpc.test.helloworld.Greeter"
	protocol    = "trpc"
	transport   = "tnet"
)

func main() {
	options := echo.Flags(time.Second)
	async := flag.Bool("async", true, "handle the requests of one connection at the same time")
	pollers := flag.Int("pollers", tnet.NumPollers(), "event loops of the transport")
	idle := flag.Duration("idle-timeout", 0, "close connections without a request for so long; 0: trpc-go's default")
	flag.Parse()
	if err := run(options, *async, *pollers, *idle); err != nil {
		log.Fatal(err)
	}
}

func run(options *echo.Options, async bool, pollers int, idle time.Duration) error {
	// Its log is for standard output, where only the line of JSON belongs.
	trpclog.SetLevel("0", trpclog.LevelFatal)
	if err := tnet.SetNumPollers(pollers); err != nil {
		return err
	}
	counters := &echo.Counters{}
	codec.Register(protocol, counting{codec.GetServer(protocol), counters}, codec.GetClient(protocol))
	identity := echo.Identity{
		Product:  "trpc-go",
		Modules:  []string{"trpc.group/trpc-go/trpc-go", "trpc.group/trpc-go/tnet"},
		Settings: []echo.Setting{{"mode", mode(async)}, {"pollers", strconv.Itoa(tnet.NumPollers())}},
	}
	listener, err := options.Serve(counters, identity, os.Stdout)
	if err != nil {
		return err
	}
	conf := &trpc.Config{}
	conf.Server.Service = []*trpc.ServiceConfig{{
		Name:        serviceName,
		Protocol:    protocol,
		Network:     "tcp",
		Transport:   transport,
		Address:     listener.Addr().String(),
		Timeout:     int(options.Timeout.Milliseconds()),
		ServerAsync: &async,
		Idletime:    int(idle.Milliseconds()),
	}}
	service := trpc.NewServerWithConfig(conf, server.WithListener(listener))
	helloworld.RegisterGreeterService(service.Service(serviceName), greeter{options})
	return service.Serve()
}

func mode(async bool) string {
	if async {
		return "async"
	}
	return "sync"
}

// counting is the codec of the protocol, and counts its frames.
type counting struct {
	codec.Codec
	counters *echo.Counters
}

func (c counting) Decode(message codec.Msg, frame []byte) ([]byte, error) {
	c.counters.Received()
	return c.Codec.Decode(message, frame)
}

func (c counting) Encode(message codec.Msg, body []byte) ([]byte, error) {
	c.counters.Answered()
	return c.Codec.Encode(message, body)
}

type greeter struct {
	options *echo.Options
}

func (g greeter) SayHello(ctx context.Context, request *helloworld.HelloRequest) (*helloworld.HelloReply, error) {
	text, err := g.options.Answer(ctx, request.Msg)
	switch {
	case err == nil:
		return &helloworld.HelloReply{Msg: text}, nil
	case errors.Is(err, echo.ErrSilent):
		return nil, errs.ErrServerNoResponse
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errs.NewFrameError(errs.RetServerTimeout, "the time-out of the server is over")
	}
	return nil, err
}

func (g greeter) SayHi(ctx context.Context, request *helloworld.HelloRequest) (*helloworld.HelloReply, error) {
	return g.SayHello(ctx, request)
}
