// Command trpc-client is a load generator made of trpc-go's own client: so many goroutines call SayHello, one after the
// other, over so many connections that they share.
//
//	trpc-client -target 127.0.0.1:8000 -connections 100 -calls 1300 -time 10s
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"trpc.group/trpc-go/trpc-go/client"
	trpclog "trpc.group/trpc-go/trpc-go/log"
	"trpc.group/trpc-go/trpc-go/pool/multiplexed"
	"trpc.group/trpc-go/trpc-go/testdata/trpc/helloworld"
)

func main() {
	target := flag.String("target", "", "address of the server")
	connections := flag.Int("connections", 100, "connections that the calls share")
	calls := flag.Int("calls", 1300, "calls in flight")
	length := flag.Duration("time", 10*time.Second, "how long to call")
	flag.Parse()
	trpclog.SetLevel("0", trpclog.LevelFatal)
	pool := multiplexed.New(multiplexed.WithConnectNumber(*connections))
	proxy := helloworld.NewGreeterClientProxy(
		client.WithTarget("ip://"+*target),
		client.WithMultiplexed(true),
		client.WithMultiplexedPool(pool),
		client.WithTimeout(2*time.Second),
	)
	end := time.Now().Add(*length)
	var answered, failed atomic.Int64
	var group sync.WaitGroup
	for range *calls {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				if _, err := proxy.SayHello(context.Background(), &helloworld.HelloRequest{Msg: "hello"}); err != nil {
					failed.Add(1)
					continue
				}
				answered.Add(1)
			}
		}()
	}
	group.Wait()
	fmt.Printf("%d answers, %d failures\n", answered.Load(), failed.Load())
	if failed.Load() > answered.Load() {
		log.Fatal("most calls failed")
	}
}
