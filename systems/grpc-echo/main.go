// Command grpc-echo is the server of grpc-go with one service, helloworld.Greeter: SayHello answers the text of the
// request, Chat that of each message of a stream. It has server reflection.
//
// It writes one line of JSON to standard output, with its addresses and versions, and serves until it is killed.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // answers as requests are compressed
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"dyno/systems/echo"
	"dyno/systems/grpc-echo/helloworld"
)

// secure names the files of TLS; without them the server has none.
type secure struct {
	cert, key, clientCA string
}

func main() {
	options := echo.Flags(0)
	workers := flag.Uint("workers", 0, "goroutines that handle requests; 0: a new one for each request")
	files := secure{}
	flag.StringVar(&files.cert, "tls-cert", "", "file of the server's certificate, for TLS")
	flag.StringVar(&files.key, "tls-key", "", "file of that certificate's private key")
	flag.StringVar(&files.clientCA, "tls-client-ca", "", "file of the authority of clients, who then need a certificate")
	ends := keepalive.ServerParameters{}
	flag.DurationVar(&ends.MaxConnectionIdle, "max-connection-idle", 0,
		"end connections without a call for so long; 0: never")
	flag.DurationVar(&ends.MaxConnectionAge, "max-connection-age", 0, "end connections at about this age; 0: never")
	flag.DurationVar(&ends.MaxConnectionAgeGrace, "max-connection-age-grace", 0,
		"how long calls may take after that; 0: without a limit")
	flag.Parse()
	if err := run(options, uint32(*workers), files, ends); err != nil {
		log.Fatal(err)
	}
}

func run(options *echo.Options, workers uint32, files secure, ends keepalive.ServerParameters) error {
	greeter := &greeter{options: options}
	settings := []grpc.ServerOption{
		grpc.UnknownServiceHandler(greeter.unknown),
		grpc.KeepaliveParams(ends),
	}
	if workers > 0 {
		settings = append(settings, grpc.NumStreamWorkers(workers))
	}
	if files.cert != "" {
		conf, err := files.config()
		if err != nil {
			return err
		}
		settings = append(settings, grpc.Creds(credentials.NewTLS(conf)))
	}
	server := grpc.NewServer(settings...)
	server.RegisterService(&description, greeter)
	reflection.Register(server)
	identity := echo.Identity{
		Product:  "grpc-go",
		Modules:  []string{"google.golang.org/grpc"},
		Settings: []echo.Setting{{"workers", strconv.FormatUint(uint64(workers), 10)}},
	}
	listener, err := options.Serve(&greeter.counters, identity, os.Stdout)
	if err != nil {
		return err
	}
	return server.Serve(listener)
}

func (s secure) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		return nil, err
	}
	conf := &tls.Config{Certificates: []tls.Certificate{pair}}
	if s.clientCA == "" {
		return conf, nil
	}
	text, err := os.ReadFile(s.clientCA)
	if err != nil {
		return nil, err
	}
	conf.ClientAuth = tls.RequireAndVerifyClientCert
	conf.ClientCAs = x509.NewCertPool()
	if !conf.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("no certificate in %s", s.clientCA)
	}
	return conf, nil
}

// greeter implements the service. It counts by itself: an interceptor would miss requests that cannot be decoded.
type greeter struct {
	options  *echo.Options
	counters echo.Counters
}

var description = grpc.ServiceDesc{
	ServiceName: "helloworld.Greeter",
	HandlerType: (*any)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "SayHello", Handler: sayHello}},
	Streams: []grpc.StreamDesc{{
		StreamName:    "Chat",
		Handler:       chat,
		ServerStreams: true,
		ClientStreams: true,
	}},
	Metadata: "helloworld.proto",
}

func sayHello(
	service any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
) (any, error) {
	greeter := service.(*greeter)
	greeter.counters.Received()
	request := &helloworld.HelloRequest{}
	if err := decode(request); err != nil {
		greeter.counters.Answered()
		return nil, err
	}
	text, err := greeter.answer(ctx, request.Msg)
	if errors.Is(err, echo.ErrSilent) {
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	greeter.counters.Answered()
	if err != nil {
		return nil, err
	}
	return &helloworld.HelloReply{Msg: text}, nil
}

func (g *greeter) answer(ctx context.Context, text string) (string, error) {
	if g.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.options.Timeout)
		defer cancel()
	}
	text, err := g.options.Answer(ctx, text)
	if err != nil && ctx.Err() != nil {
		err = status.FromContextError(ctx.Err()).Err()
	}
	return text, err
}

func chat(service any, stream grpc.ServerStream) error {
	greeter := service.(*greeter)
	greeter.counters.Received()
	defer greeter.counters.Answered()
	for {
		request := &helloworld.HelloRequest{}
		if err := stream.RecvMsg(request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := stream.SendMsg(&helloworld.HelloReply{Msg: request.Msg}); err != nil {
			return err
		}
	}
}

// unknown answers requests for methods that are not there, as the server would without it, and counts them.
func (g *greeter) unknown(_ any, stream grpc.ServerStream) error {
	g.counters.Received()
	defer g.counters.Answered()
	path, _ := grpc.MethodFromServerStream(stream)
	service, method, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if service == description.ServiceName {
		return status.Errorf(codes.Unimplemented, "unknown method %v for service %v", method, service)
	}
	return status.Errorf(codes.Unimplemented, "unknown service %v", service)
}
